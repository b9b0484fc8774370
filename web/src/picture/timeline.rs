//! The levels message by message as a picture: one row for each hormone.

use hormone_t5::analysis::Hormone;

use super::Palette;
use super::svg::{Anchor, Style, Svg};
use crate::i18n::Locale;
use crate::reading::Beat;

const ROW: f64 = 58.0;
const LEFT: f64 = 128.0;
const MARGIN: f64 = 20.0;
const TOP: f64 = 56.0;

/// Draws bars, and over them the simulated memory where there is one.
pub fn timeline(palette: &Palette, locale: Locale, beats: &[Beat]) -> String {
    let step = 34.0;
    let width = (LEFT + step * beats.len() as f64 + MARGIN).max(460.0);
    let mut svg = Svg::new(palette, width, TOP + ROW * 6.0 + 48.0);
    let label = Style { size: 14.0, fill: &palette.ink, anchor: Anchor::End, voice: false };
    svg.text((MARGIN, 34.0), Style { size: 21.0, voice: true, anchor: Anchor::Start, ..label }, &locale.text("timeline.title"));
    for hormone in Hormone::ALL {
        let floor = TOP + ROW * (hormone.index() + 1) as f64 - 8.0;
        let full = ROW - 18.0;
        svg.text((LEFT - 12.0, floor - 4.0), label, &locale.text(&format!("hormone.{}", hormone.name())));
        svg.line((LEFT - 4.0, floor), (width - MARGIN, floor), &palette.line, 1.0);
        for (index, beat) in beats.iter().enumerate() {
            let level = f64::from(beat.levels.get(hormone));
            let x = LEFT + step * index as f64 + 6.0;
            svg.rect((x, floor - full * level), (step - 12.0, full * level), 3.0, &palette.hormones[hormone.index()], 1.0);
            if let Some(memory) = beat.memory {
                svg.rect((x - 3.0, floor - full * f64::from(memory.get(hormone)) - 1.5), (step - 6.0, 3.0), 1.0, &palette.ink, 1.0);
            }
        }
    }
    let below = Style { size: 12.0, fill: &palette.ink_soft, ..label };
    for (index, beat) in beats.iter().enumerate() {
        svg.text(
            (LEFT + step * (index as f64 + 0.5), TOP + ROW * 6.0 + 10.0),
            Style { anchor: Anchor::Middle, ..below },
            &beat.number.to_string(),
        );
    }
    if beats.iter().any(|beat| beat.memory.is_some()) {
        svg.text((MARGIN, TOP + ROW * 6.0 + 34.0), Style { anchor: Anchor::Start, ..below }, &locale.text("timeline.memory_mark"));
    }
    svg.finish(&locale.text("timeline.title"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::tests::{is_well_formed, palette};
    use crate::reading::beats;

    #[test]
    fn memory_is_drawn_and_marked_only_where_it_is_on() {
        let levels = || [Some([0.2; 6].into()), None, Some([0.9; 6].into())];
        let draw = |lambda| timeline(&palette(), Locale::En, &beats(levels(), lambda, 16));
        let (without, with) = (draw(0.0), draw(0.5));
        assert!(is_well_formed(&without) && is_well_formed(&with));
        let mark = Locale::En.text("timeline.memory_mark");
        assert!(!without.contains(&mark) && with.contains(&mark));
        assert!(with.contains(">3<") && !with.contains(">2<"), "numbers are those of the conversation: {with}");
    }
}
