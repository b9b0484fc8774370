//! Files made here and handed to the visitor: text, and pictures as SVG or PNG. Nothing of it is sent anywhere.

use std::time::Duration;

use leptos::prelude::*;
use wasm_bindgen::prelude::*;
use web_sys::{CanvasRenderingContext2d, HtmlAnchorElement, HtmlCanvasElement, HtmlImageElement};

use crate::i18n::I18n;
use crate::picture::Palette;

/// How many dots of a PNG make one unit of the picture.
const PNG_SCALE: f64 = 2.0;

/// How long a file stays in memory for the browser to save it.
const KEPT: Duration = Duration::from_secs(60);

/// Hands over a text file.
pub(super) fn text_file(name: &str, mime: &str, content: &str) -> Result<(), JsValue> {
    let options = web_sys::BlobPropertyBag::new();
    options.set_type(mime);
    let blob = web_sys::Blob::new_with_str_sequence_and_options(&js_sys::Array::of1(&content.into()), &options)?;
    let url = web_sys::Url::create_object_url_with_blob(&blob)?;
    hand_over(name, &url)?;
    // Some browsers read the file only after the click has returned.
    set_timeout(move || drop(web_sys::Url::revoke_object_url(&url)), KEPT);
    Ok(())
}

/// Two buttons that save a chart as a picture in the colours of the theme.
#[component]
pub(super) fn PictureButtons(
    i18n: I18n,
    /// Name of the files, without ending; also in the test ids.
    name: &'static str,
    /// Draws the picture.
    draw: Callback<Palette, String>,
) -> impl IntoView {
    let svg = move || draw.run(palette_now());
    // A browser that refuses a download says so itself.
    let save_svg = move |_| drop(text_file(&format!("helt-{name}.svg"), "image/svg+xml", &svg()));
    let save_png = move |_| drop(save_as_png(format!("helt-{name}.png"), &svg()));
    view! {
        <span class="pictures" role="group" aria-label=move || i18n.text("picture.label")>
            <button class="quiet" data-testid=format!("svg-{name}") title=move || i18n.text("picture.svg") on:click=save_svg>"SVG"</button>
            <button class="quiet" data-testid=format!("png-{name}") title=move || i18n.text("picture.png") on:click=save_png>"PNG"</button>
        </span>
    }
}

/// The colours that the page shows now.
fn palette_now() -> Palette {
    let style = document().document_element().and_then(|root| window().get_computed_style(&root).ok().flatten());
    Palette::new(|name| style.as_ref().and_then(|style| style.get_property_value(name).ok()).unwrap_or_default().trim().to_string())
}

/// Draws the SVG on a canvas once the browser has it as an image.
fn save_as_png(name: String, svg: &str) -> Result<(), JsValue> {
    let image = HtmlImageElement::new()?;
    let drawn = image.clone();
    let paint = move || -> Result<(), JsValue> {
        let canvas: HtmlCanvasElement = document().create_element("canvas")?.unchecked_into();
        let (width, height) = (f64::from(drawn.natural_width()), f64::from(drawn.natural_height()));
        canvas.set_width((width * PNG_SCALE) as u32);
        canvas.set_height((height * PNG_SCALE) as u32);
        let context = canvas.get_context("2d")?.ok_or("no canvas")?.unchecked_into::<CanvasRenderingContext2d>();
        context.draw_image_with_html_image_element_and_dw_and_dh(&drawn, 0.0, 0.0, width * PNG_SCALE, height * PNG_SCALE)?;
        hand_over(&name, &canvas.to_data_url()?)
    };
    let on_load = Closure::once_into_js(move || {
        if let Err(error) = paint() {
            web_sys::console::warn_1(&error);
        }
    });
    image.set_onload(Some(on_load.unchecked_ref()));
    image.set_src(&format!("data:image/svg+xml;charset=utf-8,{}", String::from(js_sys::encode_uri_component(svg))));
    Ok(())
}

fn hand_over(name: &str, url: &str) -> Result<(), JsValue> {
    let link: HtmlAnchorElement = document().create_element("a")?.unchecked_into();
    link.set_href(url);
    link.set_download(name);
    link.click();
    Ok(())
}
