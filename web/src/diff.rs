//! Which words of two replies differ: the longest common subsequence of their words.

/// A word of a reply with the white space after it, and whether the other reply lacks it there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffWord {
    /// The word with what follows it up to the next word.
    pub text: String,
    /// Whether it is not in the other reply at this place.
    pub differs: bool,
}

/// Marks the words of `text` that are not common to `other`.
pub fn mark_differences(text: &str, other: &str) -> Vec<DiffWord> {
    let words: Vec<&str> = text.split_inclusive(char::is_whitespace).collect();
    let others: Vec<&str> = other.split_whitespace().collect();
    let common = common_lengths(&words, &others);
    let (mut i, mut j) = (0, 0);
    let mut marked = Vec::with_capacity(words.len());
    while i < words.len() {
        let same = j < others.len() && words[i].trim_end() == others[j];
        let skip_other = !same && j < others.len() && common[i][j + 1] >= common[i + 1][j];
        if skip_other {
            j += 1;
            continue;
        }
        let blank = words[i].trim().is_empty();
        marked.push(DiffWord { text: words[i].to_string(), differs: !same && !blank });
        i += 1;
        j += usize::from(same);
    }
    marked
}

/// `common[i][j]`: length of the longest common subsequence of `words[i..]` and `others[j..]`.
fn common_lengths(words: &[&str], others: &[&str]) -> Vec<Vec<usize>> {
    let mut common = vec![vec![0; others.len() + 1]; words.len() + 1];
    for i in (0..words.len()).rev() {
        for j in (0..others.len()).rev() {
            common[i][j] = if words[i].trim_end() == others[j] { common[i + 1][j + 1] + 1 } else { common[i + 1][j].max(common[i][j + 1]) };
        }
    }
    common
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differing(text: &str, other: &str) -> Vec<String> {
        mark_differences(text, other).into_iter().filter(|word| word.differs).map(|word| word.text.trim_end().to_string()).collect()
    }

    #[test]
    fn equal_replies_have_no_difference() {
        assert!(differing("I am so glad for you.", "I am so glad for you.").is_empty());
        assert!(differing("", "").is_empty());
    }

    #[test]
    fn only_changed_words_are_marked() {
        assert_eq!(differing("I am so happy for you!", "I am sorry for you."), ["so", "happy", "you!"]);
    }

    #[test]
    fn marking_keeps_the_text() {
        let text = "Oh  no,\nthat is   hard.";
        let joined: String = mark_differences(text, "Oh no, that is fine.").into_iter().map(|word| word.text).collect();
        assert_eq!(joined, text);
    }

    #[test]
    fn everything_differs_from_an_empty_reply() {
        assert_eq!(differing("two words", ""), ["two", "words"]);
    }
}
