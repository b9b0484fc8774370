//! Where the page will lie on its host: anywhere (`./`), at the top (`/`) or in a folder (`/demo/`).
//!
//! Trunk takes any text and writes a blank page for some: `demo` without slashes is looked up relative to the page
//! (trunk issue 745). So only the forms that work are let through.

use std::fmt;
use std::str::FromStr;

/// What stands in front of each file name in index.html.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PublicUrl(String);

impl PublicUrl {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Under which prefix a local server has to show the page.
    pub(crate) fn prefix(&self) -> &str {
        if self.0 == "./" { "/" } else { &self.0 }
    }
}

/// `./` works on every host and in every folder.
impl Default for PublicUrl {
    fn default() -> Self {
        Self("./".to_owned())
    }
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromStr for PublicUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_simple = |c: char| c.is_ascii_alphanumeric() || "/-_.~".contains(c);
        match text {
            "." | "./" => Ok(Self::default()),
            "/" => Ok(Self("/".to_owned())),
            _ if text.contains("://") || text.starts_with("//") => {
                Err(format!("`{text}` names a host, but the page takes its files from its own host: give the path alone, as `/demo/`"))
            }
            _ if !text.chars().all(is_simple) || text.contains("//") || text.contains("..") => {
                Err(format!("`{text}` is not a plain path: use `./`, `/` or a path as `/demo/`"))
            }
            _ if text.starts_with('/') => Ok(Self(format!("{}/", text.trim_end_matches('/')))),
            _ => Err(format!(
                "`{text}` would be looked up relative to the page: use `./`, or `/{}/` for a fixed place",
                text.trim_start_matches("./").trim_end_matches('/')
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<String, String> {
        text.parse::<PublicUrl>().map(|url| url.to_string())
    }

    #[test]
    fn a_path_gets_its_last_slash() {
        assert_eq!(parse("/demo"), Ok("/demo/".to_owned()));
        assert_eq!(parse("/demo/"), Ok("/demo/".to_owned()));
        assert_eq!(parse("/"), Ok("/".to_owned()));
        assert_eq!(parse("."), Ok("./".to_owned()));
    }

    #[test]
    fn a_name_without_slashes_is_refused_with_the_right_form() {
        let message = parse("demo").expect_err("refused");
        assert!(message.contains("`/demo/`"), "{message}");
    }

    #[test]
    fn another_host_and_odd_characters_are_refused() {
        for text in ["https://example.org/", "//example.org/", "/a b/", "/\"/", "/../", "/a//b/"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_relative_page_is_served_at_the_top() {
        assert_eq!(PublicUrl::default().prefix(), "/");
        assert_eq!("/demo".parse::<PublicUrl>().expect("valid").prefix(), "/demo/");
    }
}
