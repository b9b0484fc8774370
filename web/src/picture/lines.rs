//! Lines over steps, as for a loss curve: axes with round numbers, the name of each line at its end.

use super::Palette;
use super::svg::{Anchor, Style, Svg};
use crate::i18n::Locale;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 240.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 128.0;
const TOP: f64 = 20.0;
const BOTTOM: f64 = 40.0;

/// A line.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// Index of its hormone colour.
    pub colour: usize,
    /// Told apart without colour.
    pub dashed: bool,
    /// Where it goes.
    pub points: Vec<(f64, f64)>,
}

/// Several lines over one axis.
#[derive(Clone, Debug, PartialEq)]
pub struct LineChart {
    /// What the picture is.
    pub title: String,
    /// Below the horizontal axis.
    pub x_label: String,
    /// The lines.
    pub series: Vec<Series>,
    /// Decimals of the numbers at the vertical axis.
    pub decimals: usize,
}

/// Draws it; lines with fewer than two points are left out.
pub fn line_chart(palette: &Palette, locale: Locale, chart: &LineChart) -> String {
    let mut svg = Svg::new(palette, WIDTH, HEIGHT);
    let label = Style { size: 12.0, fill: &palette.ink_soft, anchor: Anchor::End, voice: false };
    let drawn: Vec<&Series> = chart.series.iter().filter(|series| series.points.len() > 1).collect();
    let points = || drawn.iter().flat_map(|series| series.points.iter().copied());
    let x_range = range(points().map(|point| point.0));
    let y_range = range(points().map(|point| point.1));
    let (plot_width, plot_height) = (WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
    let place = |(x, y): (f64, f64)| (LEFT + plot_width * share(x, x_range), TOP + plot_height * (1.0 - share(y, y_range)));
    for tick in ticks(y_range) {
        let (_, y) = place((x_range.0, tick));
        svg.line((LEFT, y), (LEFT + plot_width, y), &palette.sunken, 1.0);
        svg.text((LEFT - 8.0, y + 4.0), label, &locale.number(tick, chart.decimals));
    }
    for tick in ticks(x_range) {
        let (x, _) = place((tick, y_range.0));
        svg.text((x, HEIGHT - BOTTOM + 17.0), Style { anchor: Anchor::Middle, ..label }, &locale.number(tick, 0));
    }
    svg.line((LEFT, HEIGHT - BOTTOM), (LEFT + plot_width, HEIGHT - BOTTOM), &palette.line, 1.0);
    svg.text((LEFT + plot_width, HEIGHT - 6.0), label, &chart.x_label);
    let mut names: Vec<(f64, &Series)> = Vec::new();
    for series in &drawn {
        let line: Vec<(f64, f64)> = series.points.iter().map(|point| place(*point)).collect();
        svg.polyline(&line, &palette.hormones[series.colour], series.dashed);
        names.push((line[line.len() - 1].1, series));
    }
    names.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut lowest = f64::NEG_INFINITY;
    for (y, series) in names {
        lowest = y.max(lowest + 15.0);
        svg.text((LEFT + plot_width + 8.0, lowest + 4.0), Style { anchor: Anchor::Start, fill: &palette.ink, ..label }, &series.name);
    }
    svg.finish(&chart.title)
}

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    match (low.is_finite() && high.is_finite(), high > low) {
        (false, _) => (0.0, 1.0),
        (true, false) => (low - 0.5, low + 0.5),
        (true, true) => (low, high),
    }
}

fn share(value: f64, (low, high): (f64, f64)) -> f64 {
    (value - low) / (high - low)
}

/// Round numbers within a range, three to six of them.
fn ticks((low, high): (f64, f64)) -> Vec<f64> {
    let rough = (high - low) / 4.0;
    let unit = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * unit).into_iter().find(|step| *step >= rough).unwrap_or(rough);
    let first = (low / step).ceil() as i64;
    (first..first + 12).map(|index| index as f64 * step).take_while(|tick| *tick <= high + step * 1e-9).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::tests::{is_well_formed, palette};

    fn chart(points: Vec<(f64, f64)>) -> String {
        let series = vec![Series { name: "held out".into(), colour: 0, dashed: true, points }];
        line_chart(&palette(), Locale::Nl, &LineChart { title: "curve".into(), x_label: "steps".into(), series, decimals: 1 })
    }

    #[test]
    fn a_curve_stays_inside_its_axes_and_is_named() {
        let svg = chart(vec![(100.0, 6.5), (200.0, 5.25), (400.0, 5.0)]);
        assert!(is_well_formed(&svg) && svg.contains(">held out<") && svg.contains(">5,5<"), "{svg}");
        let points = svg.split("points=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a line");
        for point in points.split(' ') {
            let (x, y) = point.split_once(',').expect("two numbers");
            let (x, y): (f64, f64) = (x.parse().expect("a number"), y.parse().expect("a number"));
            assert!((LEFT..=WIDTH - RIGHT).contains(&x) && (TOP..=HEIGHT - BOTTOM).contains(&y), "{point}");
        }
    }

    #[test]
    fn flat_and_empty_curves_can_be_drawn() {
        assert!(is_well_formed(&chart(vec![(1.0, 2.0), (2.0, 2.0)])));
        assert!(is_well_formed(&chart(Vec::new())));
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(ticks((0.0, 1.0)), [0.0, 0.5, 1.0]);
        assert_eq!(ticks((150.0, 450.0)), [200.0, 300.0, 400.0]);
    }
}
