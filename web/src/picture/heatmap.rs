//! Hormones by words as a picture.

use hormone_t5::analysis::Hormone;

use super::Palette;
use super::svg::{Anchor, Style, Svg, shortened, width_of};
use crate::i18n::Locale;
use crate::reading::Column;

const CELL: f64 = 38.0;
const ROW: f64 = 30.0;
const LEFT: f64 = 128.0;
const RIGHT: f64 = 24.0;
const MARGIN: f64 = 20.0;

/// Draws the table; words stand upright where they do not fit above their cells.
pub fn heatmap(palette: &Palette, locale: Locale, columns: &[Column]) -> String {
    let heads: Vec<String> = columns.iter().map(|column| shortened(&locale.column_head(column), 22)).collect();
    let longest = heads.iter().map(|head| width_of(head, 14.0)).fold(0.0, f64::max);
    let lying = longest + 12.0 <= 96.0 && heads.len() <= 12;
    let cell = if lying { CELL.max(longest + 12.0) } else { CELL };
    let top = MARGIN + if lying { 28.0 } else { longest + 14.0 };
    let width = (LEFT + cell * columns.len() as f64 + RIGHT).max(320.0);
    let mut svg = Svg::new(palette, width, top + ROW * 6.0 + 44.0);
    let label = Style { size: 14.0, fill: &palette.ink, anchor: Anchor::Middle, voice: true };
    for (index, head) in heads.iter().enumerate() {
        let x = LEFT + cell * (index as f64 + 0.5);
        if lying {
            svg.text((x, top - 10.0), label, head)
        } else {
            svg.upright_text((x + 5.0, top - 8.0), Style { anchor: Anchor::Start, ..label }, head)
        }
    }
    let strongest = columns.iter().flat_map(|column| column.attention).fold(f32::EPSILON, f32::max);
    let number = Style { size: 12.0, voice: false, ..label };
    for hormone in Hormone::ALL {
        let y = top + ROW * hormone.index() as f64;
        let name = locale.text(&format!("hormone.{}", hormone.name()));
        svg.text((LEFT - 10.0, y + 19.0), Style { anchor: Anchor::End, voice: false, ..label }, &name);
        for (index, column) in columns.iter().enumerate() {
            let share = column.attention[hormone.index()];
            let x = LEFT + cell * index as f64;
            let size = (cell - 2.0, ROW - 2.0);
            svg.rect((x + 1.0, y + 1.0), size, 5.0, &palette.sunken, 0.6);
            svg.rect((x + 1.0, y + 1.0), size, 5.0, &palette.hormones[hormone.index()], f64::from(share / strongest) * 0.55);
            svg.text((x + cell / 2.0, y + 19.0), number, &locale.number(f64::from(share) * 100.0, 0));
        }
    }
    let caveat = Style { size: 12.0, fill: &palette.ink_soft, anchor: Anchor::Start, voice: false };
    svg.text((MARGIN, top + ROW * 6.0 + 26.0), caveat, &locale.text("attention.caveat"));
    svg.finish(&locale.text("attention.title"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::tests::{is_well_formed, palette};
    use crate::reading::tests::example;
    use crate::reading::{HeadChoice, columns};

    #[test]
    fn every_word_and_share_is_in_the_picture() {
        let svg = heatmap(&palette(), Locale::En, &columns(&example(), HeadChoice::Mean, true));
        assert!(is_well_formed(&svg), "{svg}");
        assert!(svg.contains(">good!<") && svg.contains(">70<") && svg.contains(">end<"), "{svg}");
    }

    #[test]
    fn long_words_stand_upright() {
        let mut analysis = example();
        analysis.text = "so incomprehensibilities".into();
        (analysis.tokens[1].end, analysis.tokens[2].start, analysis.tokens[2].end) = (12, 12, 24);
        let svg = heatmap(&palette(), Locale::En, &columns(&analysis, HeadChoice::Mean, true));
        assert!(svg.contains("rotate(-90)") && is_well_formed(&svg), "{svg}");
    }
}
