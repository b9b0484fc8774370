//! SVG as text: a handful of shapes, every text escaped.

use std::fmt::Write;

use super::Palette;

/// A picture in the making.
pub(super) struct Svg<'a> {
    palette: &'a Palette,
    width: f64,
    height: f64,
    body: String,
}

/// Which end of a text its place names.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// How a text looks.
#[derive(Clone, Copy)]
pub(super) struct Style<'a> {
    pub(super) size: f64,
    pub(super) fill: &'a str,
    pub(super) anchor: Anchor,
    /// In the letters of titles and numbers.
    pub(super) voice: bool,
}

impl<'a> Svg<'a> {
    pub(super) fn new(palette: &'a Palette, width: f64, height: f64) -> Self {
        Self { palette, width, height, body: String::new() }
    }

    pub(super) fn rect(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), radius: f64, fill: &str, opacity: f64) {
        // Writing to a String never fails, here and below.
        let _ = write!(
            self.body,
            r#"<rect x="{x:.1}" y="{y:.1}" width="{:.1}" height="{:.1}" rx="{radius}" fill="{}" fill-opacity="{opacity:.3}"/>"#,
            width.max(0.0),
            height.max(0.0),
            escape(fill)
        );
    }

    pub(super) fn text(&mut self, (x, y): (f64, f64), style: Style<'_>, text: &str) {
        let attributes = self.attributes(style);
        let _ = write!(self.body, r#"<text x="{x:.1}" y="{y:.1}" {attributes}>{}</text>"#, escape(text));
    }

    /// Reads from bottom to top.
    pub(super) fn upright_text(&mut self, (x, y): (f64, f64), style: Style<'_>, text: &str) {
        let attributes = self.attributes(style);
        let _ = write!(self.body, r#"<text transform="translate({x:.1} {y:.1}) rotate(-90)" {attributes}>{}</text>"#, escape(text));
    }

    pub(super) fn line(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), stroke: &str, width: f64) {
        let _ = write!(
            self.body,
            r#"<line x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}" stroke="{}" stroke-width="{width}"/>"#,
            escape(stroke)
        );
    }

    pub(super) fn polyline(&mut self, points: &[(f64, f64)], stroke: &str, dashed: bool) {
        let places: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let dashes = if dashed { r#" stroke-dasharray="5 4""# } else { "" };
        let _ = write!(
            self.body,
            r#"<polyline points="{}" fill="none" stroke="{}" stroke-width="2" stroke-linejoin="round" stroke-linecap="round"{dashes}/>"#,
            places.join(" "),
            escape(stroke)
        );
    }

    /// The whole picture; `title` is what it is called where it cannot be seen.
    pub(super) fn finish(self, title: &str) -> String {
        let Self { palette, width, height, body } = self;
        format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" aria-label="{title}"><rect width="{width}" height="{height}" fill="{}"/>{body}</svg>"#,
            escape(&palette.surface),
            title = escape(title)
        )
    }

    fn attributes(&self, style: Style<'_>) -> String {
        let anchor = match style.anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let family = if style.voice { &self.palette.voice } else { &self.palette.ui };
        format!(r#"font-size="{}" fill="{}" text-anchor="{anchor}" style="font-family:{}""#, style.size, escape(style.fill), escape(family))
    }
}

/// The width of a text, roughly: good enough to keep labels apart.
pub(super) fn width_of(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * 0.56
}

/// At most so many characters, with a mark where some are left out.
pub(super) fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most { text.to_string() } else { text.chars().take(most.saturating_sub(1)).chain(['…']).collect() }
}

fn escape(text: &str) -> String {
    text.chars().filter(|mark| !mark.is_control()).fold(String::new(), |mut safe, mark| {
        match mark {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            mark => safe.push(mark),
        }
        safe
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_can_leave_it() {
        assert_eq!(escape("a<b>&\"c\"\u{7}"), "a&lt;b&gt;&amp;&quot;c&quot;");
        assert_eq!(shortened("abcdef", 4), "abc…");
    }
}
