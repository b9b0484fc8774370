//! One hormone: letter, name, meaning, value, word, and a bar that is also a slider. A level set by hand leaves the predicted one as a ghost mark.

use hormone_t5::analysis::Hormone;
use leptos::ev::{KeyboardEvent, PointerEvent};
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use crate::controls::slider_key;
use crate::focus::Focus;
use crate::i18n::I18n;
use crate::reading::{ProfileMark, level_word};

/// So many pixels sideways make a finger's touch a drag.
const SLACK: i32 = 6;

/// A pointer that went down on the bar.
#[derive(Clone, Copy, Debug)]
struct Press {
    /// Where it began.
    x: i32,
    /// See `x`.
    y: i32,
    /// What the visitor had said before.
    pin: Option<f32>,
    /// Whether it sets the level. A mouse does so at once; a finger may want to scroll the page, until it moves sideways.
    drags: bool,
}

/// A bar. Drag or use the arrow keys to set a level by hand; Escape or Delete gives the model its own back.
#[component]
pub(super) fn HormoneBar(
    i18n: I18n,
    hormone: Hormone,
    focus: RwSignal<Focus>,
    /// What the block says.
    #[prop(into)]
    predicted: Signal<Option<f32>>,
    /// What the visitor says.
    #[prop(into)]
    pin: Signal<Option<f32>>,
    /// Levels of the training profiles shown beside.
    #[prop(into)]
    profiles: Signal<Vec<ProfileMark>>,
    /// Sets or releases the level.
    on_pin: Callback<Option<f32>>,
) -> impl IntoView {
    let name = hormone.name();
    let level = move || pin.get().or(predicted.get());
    let spoken = move || match (level(), pin.get()) {
        (None, _) => i18n.text("hormones.unread"),
        (Some(level), None) => {
            i18n.format("hormones.spoken", &[("level", &i18n.number(level, 2)), ("word", &i18n.text(level_word(level)))])
        }
        (Some(level), Some(_)) => {
            i18n.format("hormones.spoken_pinned", &[("level", &i18n.number(level, 2)), ("word", &i18n.text(level_word(level)))])
        }
    };
    let press = StoredValue::new(None::<Press>);
    let pin_under = move |event: &PointerEvent| {
        if let Some(level) = level_under(event) {
            on_pin.run(Some(level));
        }
    };
    let on_down = move |event: PointerEvent| {
        if event.buttons() & 1 == 0 {
            return;
        }
        if let Some(track) = event.current_target().and_then(|target| target.dyn_into::<web_sys::Element>().ok()) {
            // Without capture dragging merely ends at the bar's edge.
            let _ = track.set_pointer_capture(event.pointer_id());
        }
        let drags = event.pointer_type() == "mouse";
        press.set_value(Some(Press { x: event.client_x(), y: event.client_y(), pin: pin.get_untracked(), drags }));
        if drags {
            pin_under(&event);
        }
    };
    let on_move = move |event: PointerEvent| {
        let Some(pressed) = press.get_value().filter(|_| event.buttons() & 1 == 1) else { return };
        if pressed.drags || pressed.goes_sideways(&event) {
            press.set_value(Some(Press { drags: true, ..pressed }));
            pin_under(&event);
        }
    };
    let on_up = move |event: PointerEvent| {
        // A tap.
        if press.get_value().is_some_and(|pressed| !pressed.drags) {
            pin_under(&event);
        }
        press.set_value(None);
    };
    let on_cancel = move |_| {
        // The browser takes the pointer to scroll.
        if let Some(pressed) = press.get_value().filter(|pressed| pressed.drags) {
            on_pin.run(pressed.pin);
        }
        press.set_value(None);
    };
    let on_key = move |event: KeyboardEvent| {
        if matches!(event.key().as_str(), "Escape" | "Delete" | "Backspace") {
            event.prevent_default();
            on_pin.run(None);
        } else if let Some(next) = slider_key(&event.key(), level().unwrap_or(0.5), 1.0) {
            event.prevent_default();
            on_pin.run(Some(next));
        }
    };
    view! {
        <div
            class=format!("hormone tint-{name}")
            class:pinned=move || pin.get().is_some()
            class:pointed=move || focus.get().hormone == Some(hormone.index())
            on:pointerenter=move |_| focus.update(|focus| focus.hormone = Some(hormone.index()))
            on:pointerleave=move |_| focus.update(|focus| focus.hormone = None)
        >
            <span class="letter" aria-hidden="true">{name.chars().next().map(|letter| letter.to_ascii_uppercase())}</span>
            <span class="name" id=format!("name-{name}")>{move || i18n.text(&format!("hormone.{name}"))}</span>
            <span class="meaning">{move || i18n.text(&format!("meaning.{name}"))}</span>
            <span class="word">{move || level().map(|level| i18n.text(level_word(level)))}</span>
            <span class="value" data-testid=format!("hormone-value-{name}")>{move || level().map_or("–".to_string(), |level| i18n.number(level, 2))}</span>
            <div
                class="track"
                role="slider"
                tabindex="0"
                data-testid=format!("hormone-bar-{name}")
                aria-labelledby=format!("name-{name}")
                aria-valuemin="0"
                aria-valuemax="1"
                aria-valuenow=move || format!("{:.2}", level().unwrap_or_default())
                aria-valuetext=spoken
                on:pointerdown=on_down
                on:pointermove=on_move
                on:pointerup=on_up
                on:pointercancel=on_cancel
                on:keydown=on_key
                on:focus=move |_| focus.update(|focus| focus.hormone = Some(hormone.index()))
                on:blur=move |_| focus.update(|focus| focus.hormone = None)
            >
                <span class="lane-of"><span class="fill" style:transform=move || format!("scaleX({:.4})", level().unwrap_or_default())></span></span>
                {move || pin.get().and(predicted.get()).map(|level| view! { <span class="ghost" data-testid=format!("hormone-ghost-{name}") style:left=percent(level)></span> })}
                {move || profiles.get().into_iter().map(|mark| profile_mark(i18n, mark)).collect_view()}
            </div>
            <button
                class="release"
                class:gone=move || pin.get().is_none()
                data-testid=format!("release-{name}")
                title=move || i18n.text("hormones.release")
                aria-label=move || format!("{}: {}", i18n.text(&format!("hormone.{name}")), i18n.text("hormones.release"))
                on:click=move |_| on_pin.run(None)
            >
                "×"
            </button>
        </div>
    }
}

impl Press {
    fn goes_sideways(self, event: &PointerEvent) -> bool {
        let (across, along) = ((event.client_x() - self.x).abs(), (event.client_y() - self.y).abs());
        across >= SLACK && across > along
    }
}

/// The first letters of the training profiles at their level.
fn profile_mark(i18n: I18n, mark: ProfileMark) -> impl IntoView {
    view! { <span class="profile" aria-hidden="true" style:left=percent(mark.level)>{i18n.now().initials(&mark.tones)}</span> }
}

fn percent(level: f32) -> String {
    format!("{:.2}%", level * 100.0)
}

/// The level at the pointer's place on the bar.
fn level_under(event: &PointerEvent) -> Option<f32> {
    let track = event.current_target()?.dyn_into::<web_sys::Element>().ok()?.get_bounding_client_rect();
    let place = (f64::from(event.client_x()) - track.left()) / track.width().max(1.0);
    Some((place.clamp(0.0, 1.0) * 100.0).round() as f32 / 100.0)
}
