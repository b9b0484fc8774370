//! The page's charts as pictures of their own: SVG text that needs nothing else, for slides, reports and lessons. PNG is made of it by the browser.

mod bars;
mod heatmap;
mod lines;
mod svg;
mod timeline;

pub use bars::{Bars, bars};
pub use heatmap::heatmap;
pub use lines::{LineChart, Series, line_chart};
pub use timeline::timeline;

/// Colours and letters of a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Palette {
    /// Behind everything.
    pub surface: String,
    /// Empty part of a bar.
    pub sunken: String,
    /// Text.
    pub ink: String,
    /// Text of less weight.
    pub ink_soft: String,
    /// Thin lines.
    pub line: String,
    /// One for each hormone.
    pub hormones: [String; 6],
    /// Letters of numbers and titles.
    pub voice: String,
    /// Letters of labels.
    pub ui: String,
}

impl Palette {
    /// The page's custom properties, each looked up by `value_of`.
    pub fn new(value_of: impl Fn(&str) -> String) -> Self {
        let hormones = hormone_t5::Hormone::ALL.map(|hormone| value_of(&format!("--{}", hormone.name())));
        Self {
            surface: value_of("--surface"),
            sunken: value_of("--sunken"),
            ink: value_of("--ink"),
            ink_soft: value_of("--ink-soft"),
            line: value_of("--line-strong"),
            hormones,
            voice: value_of("--voice").replace('"', "'"),
            ui: value_of("--ui").replace('"', "'"),
        }
    }

    /// For pictures inside the page: they follow its theme.
    pub fn of_the_page() -> Self {
        Self::new(|name| format!("var({name})"))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::Palette;

    /// Black and white.
    pub(crate) fn palette() -> Palette {
        Palette::new(|name| if name == "--voice" { "\"A & B\", serif".to_string() } else { "#000".to_string() })
    }

    /// As far as a count of brackets can tell.
    pub(crate) fn is_well_formed(svg: &str) -> bool {
        let closed = svg.matches("</").count() + svg.matches("/>").count();
        svg.starts_with("<svg ")
            && svg.ends_with("</svg>")
            && svg.matches('<').count() == closed + svg.matches("</").count()
            && !svg.contains(" & ")
    }
}
