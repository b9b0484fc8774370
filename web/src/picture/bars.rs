//! The six levels as a picture, with levels set by hand and training profiles where they are shown.

use hormone_t5::analysis::{Hormone, HormoneLevels, Tone};

use super::Palette;
use super::svg::{Anchor, Style, Svg};
use crate::i18n::Locale;
use crate::reading::{level_word, profile_marks};

const WIDTH: f64 = 640.0;
const ROW: f64 = 46.0;
const TOP: f64 = 58.0;
const LEFT: f64 = 24.0;

/// What the bars show.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bars {
    /// The message.
    pub text: String,
    /// What the block says.
    pub predicted: Option<HormoneLevels>,
    /// What the visitor says.
    pub pins: [Option<f32>; 6],
    /// Training profiles beside them.
    pub profiles: Vec<Tone>,
}

/// Draws them.
pub fn bars(palette: &Palette, locale: Locale, data: &Bars) -> String {
    let mut svg = Svg::new(palette, WIDTH, TOP + ROW * 6.0 + 16.0);
    let label = Style { size: 15.0, fill: &palette.ink, anchor: Anchor::Start, voice: false };
    let soft = Style { size: 13.0, fill: &palette.ink_soft, ..label };
    let title = if data.text.is_empty() { locale.text("hormones.title") } else { super::svg::shortened(&data.text, 60) };
    let track = WIDTH - 2.0 * LEFT;
    let size = (21.0 * track / super::svg::width_of(&title, 21.0)).clamp(11.0, 21.0);
    svg.text((LEFT, 34.0), Style { size, voice: true, ..label }, &title);
    for hormone in Hormone::ALL {
        let colour = &palette.hormones[hormone.index()];
        let predicted = data.predicted.map(|levels| levels.get(hormone));
        let pin = data.pins[hormone.index()];
        let level = pin.or(predicted);
        let y = TOP + ROW * hormone.index() as f64;
        svg.text((LEFT, y + 14.0), label, &locale.text(&format!("hormone.{}", hormone.name())));
        if let Some(level) = level {
            let word = locale.text(level_word(level));
            let by_hand = pin.map(|_| format!(" · {}", locale.text("lane.pinned"))).unwrap_or_default();
            svg.text((WIDTH - LEFT - 48.0, y + 14.0), Style { anchor: Anchor::End, ..soft }, &format!("{word}{by_hand}"));
            let value = locale.number(f64::from(level), 2);
            svg.text((WIDTH - LEFT, y + 14.0), Style { anchor: Anchor::End, voice: true, size: 18.0, ..label }, &value);
        }
        let bar = y + 22.0;
        svg.rect((LEFT, bar), (track, 12.0), 6.0, &palette.sunken, 1.0);
        svg.rect((LEFT, bar), (track * f64::from(level.unwrap_or_default()), 12.0), 6.0, colour, 1.0);
        if let (Some(_), Some(ghost)) = (pin, predicted) {
            svg.rect((LEFT + track * f64::from(ghost) - 2.0, bar - 1.0), (4.0, 14.0), 1.0, &palette.ink, 1.0);
        }
        for mark in profile_marks(&data.profiles, hormone) {
            let x = LEFT + track * f64::from(mark.level);
            let letters = locale.initials(&mark.tones);
            let width = 2.0 + 16.0 * mark.tones.len() as f64;
            svg.rect((x - width / 2.0, bar - 2.0), (width, 16.0), 4.0, &palette.surface, 0.92);
            svg.text((x, bar + 10.5), Style { size: 11.0, anchor: Anchor::Middle, ..label }, &letters);
        }
    }
    svg.finish(&locale.text("hormones.title"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::tests::{is_well_formed, palette};

    #[test]
    fn the_picture_holds_every_name_and_number() {
        let data = Bars {
            text: "so <good> & \"fine\"".into(),
            predicted: Some([0.9, 0.8, 0.1, 0.7, 0.6, 0.25].into()),
            pins: [None, None, Some(0.5), None, None, None],
            profiles: Tone::ALL.into(),
        };
        let svg = bars(&palette(), Locale::Nl, &data);
        assert!(is_well_formed(&svg), "{svg}");
        for part in ["Serotonine", "0,90", "0,50", "waarden zelf ingesteld", "so &lt;good&gt;"] {
            assert!(svg.contains(part), "{part} is not in {svg}");
        }
    }

    #[test]
    fn bars_without_a_reading_are_empty_but_drawn() {
        assert!(is_well_formed(&bars(&palette(), Locale::En, &Bars::default())));
    }
}
