//! Name, model badge, language and theme.

use leptos::ev::MouseEvent;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

use super::playground::COMPOSER;
use super::preferences;
use crate::i18n::{I18n, Locale};
use crate::protocol::LoadedModel;

/// The top line.
#[component]
pub(super) fn Header(
    /// The language.
    i18n: I18n,
    /// The model that answers.
    #[prop(into)]
    model: Signal<Option<LoadedModel>>,
) -> impl IntoView {
    let theme = RwSignal::new(preferences::theme());
    Effect::new(move |_| set_root_attribute("data-theme", theme.get().attribute()));
    Effect::new(move |_| {
        set_root_attribute("lang", i18n.now().code());
        document().set_title(&i18n.text("page.title"));
    });
    // The address holds the page's state: following these links must leave it as it is.
    let skip = |event: MouseEvent| {
        event.prevent_default();
        focus_on(document().get_element_by_id(COMPOSER));
    };
    let change_theme = move |_| {
        theme.update(|theme| *theme = theme.next());
        preferences::remember_theme(theme.get_untracked());
    };
    view! {
        <a class="skip" href=format!("#{COMPOSER}") data-testid="skip" on:click=skip>{move || i18n.text("page.skip")}</a>
        <header class="top">
            <div class="brand">
                <Mark />
                <h1>{move || i18n.text("page.name")}</h1>
                <p>{move || i18n.text("page.tagline")}</p>
            </div>
            <div class="tools">
                {move || model.get().map(|model| view! { <Badge i18n model /> })}
                <div class="switch" role="group" aria-label=move || i18n.text("language.label")>
                    {Locale::ALL.map(|locale| view! { <LanguageButton i18n locale /> })}
                </div>
                <button class="quiet" data-testid="theme-toggle" on:click=change_theme>
                    {move || i18n.text(theme.get().key())}
                </button>
            </div>
        </header>
    }
}

#[component]
fn LanguageButton(i18n: I18n, locale: Locale) -> impl IntoView {
    let choose = move |_| {
        i18n.locale.set(locale);
        preferences::remember_locale(locale);
    };
    view! {
        <button
            lang=locale.code()
            title=locale.name()
            data-testid=format!("language-{}", locale.code())
            aria-pressed=move || (i18n.now() == locale).to_string()
            on:click=choose
        >
            {locale.code().to_uppercase()}
        </button>
    }
}

/// Which weights answer, in a few words.
#[component]
fn Badge(i18n: I18n, model: LoadedModel) -> impl IntoView {
    let parameters = model.entry.as_ref().map(|entry| entry.parameters as f64 / 1e6);
    let id = model.id.clone();
    let text = move || match parameters {
        Some(millions) => i18n.format("badge.model", &[("id", &id), ("millions", &i18n.now().number(millions, 1))]),
        None => i18n.format("badge.own", &[("id", &id)]),
    };
    let open = |event: MouseEvent| {
        event.prevent_default();
        if let Some(panel) = document().get_element_by_id("model") {
            // A closed panel would be a poor answer. Both fail for invalid names only.
            let _ = panel.set_attribute("open", "");
            focus_on(panel.query_selector("summary").ok().flatten());
            panel.scroll_into_view();
        }
    };
    view! { <a class="badge" href="#model" data-testid="model-badge" on:click=open>{text}</a> }
}

/// Six bars, the page's sign.
#[component]
fn Mark() -> impl IntoView {
    let bars =
        ["dopamine", "serotonin", "cortisol", "oxytocin", "adrenaline", "endorphins"].into_iter().zip([20, 14, 7, 16, 11, 18]).enumerate();
    view! {
        <svg class="mark" viewBox="0 0 35 24" width="35" height="24" aria-hidden="true">
            {bars.map(|(index, (name, height))| view! {
                <rect class=format!("fill-{name}") x=(index * 6).to_string() y=(22 - height).to_string() width="4" height=height.to_string() rx="2" />
            }).collect_view()}
        </svg>
    }
}

fn focus_on(element: Option<Element>) {
    if let Some(element) = element.and_then(|element| element.dyn_into::<HtmlElement>().ok()) {
        // Only fails where there is no page.
        let _ = element.focus();
    }
}

fn set_root_attribute(name: &str, value: &str) {
    if let Some(root) = document().document_element() {
        // Fails for invalid names only.
        let _ = root.set_attribute(name, value);
    }
}
