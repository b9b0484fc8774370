//! The same message as other people would type it: case, marks, typing errors, other names. Replies stay as they were written, but for names.

use rand::Rng;
use rand::seq::IndexedRandom;

/// First names that may stand for each other; a name keeps its list, so that "she" stays right.
#[rustfmt::skip]
const WOMEN: [&str; 30] = [
    "Amina", "Anna", "Aisha", "Chloe", "Elena", "Emma", "Fatima", "Grace", "Hana", "Ines", "Julia", "Kate", "Lena", "Leila", "Lucy",
    "Maria", "Maya", "Mei", "Mia", "Nadia", "Nina", "Noor", "Olga", "Priya", "Rosa", "Sara", "Sofia", "Tara", "Yuki", "Zoe",
];
#[rustfmt::skip]
const MEN: [&str; 30] = [
    "Ahmed", "Ali", "Ben", "Carlos", "Daniel", "David", "Diego", "Emre", "Farid", "Hassan", "Ivan", "Jamal", "Jonas", "Kenji", "Kofi",
    "Leo", "Liam", "Luca", "Marco", "Mateo", "Max", "Noah", "Omar", "Paul", "Pedro", "Ravi", "Sam", "Tariq", "Tom", "Yusuf",
];

/// How often each change is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SurfaceShares {
    /// ALL CAPITALS.
    pub(crate) capitals: f64,
    /// small letters without a full stop
    pub(crate) small: f64,
    /// A typing error.
    pub(crate) typo: f64,
    /// Another mark at the end.
    pub(crate) ending: f64,
}

impl SurfaceShares {
    /// For texts that already vary as people do.
    pub(crate) const LIGHT: Self = Self { capitals: 0.07, small: 0.08, typo: 0.05, ending: 0.10 };
    /// For clean sentences.
    pub(crate) const FULL: Self = Self { capitals: 0.15, small: 0.20, typo: 0.10, ending: 0.30 };
}

/// `text` typed another way.
pub(crate) fn vary(text: &str, shares: SurfaceShares, rng: &mut impl Rng) -> String {
    let mut varied = text.to_string();
    if rng.random_bool(shares.typo) {
        varied = with_typo(&varied, rng);
    }
    if rng.random_bool(shares.ending) {
        varied = with_other_ending(&varied, rng);
    }
    let case = rng.random::<f64>();
    if case < shares.capitals {
        varied = varied.to_uppercase();
    } else if case < shares.capitals + shares.small {
        varied = varied.to_lowercase();
        if rng.random_bool(0.7) {
            varied = varied.trim_end_matches('.').to_string();
        }
        if rng.random_bool(0.4) {
            varied = varied.replace('\'', "");
        }
    }
    varied
}

/// One slip of the fingers in one of the longer words: two letters swapped, one left out, one doubled.
fn with_typo(text: &str, rng: &mut impl Rng) -> String {
    let mut words: Vec<String> = text.split(' ').map(str::to_string).collect();
    let long: Vec<usize> = (0..words.len())
        .filter(|index| words[*index].len() >= 4 && words[*index].chars().all(|character| character.is_ascii_alphabetic()))
        .collect();
    let Some(place) = long.choose(rng) else { return text.to_string() };
    let mut letters: Vec<char> = words[*place].chars().collect();
    let at = rng.random_range(1..letters.len() - 1);
    match rng.random_range(0..3) {
        0 if at >= 2 => letters.swap(at - 1, at),
        1 => {
            letters.remove(at);
        }
        _ => letters.insert(at, letters[at]),
    }
    words[*place] = letters.into_iter().collect();
    words.join(" ")
}

/// Another end mark; a question stays a question, and what ends with an emoji or a smiley stays as it is.
fn with_other_ending(text: &str, rng: &mut impl Rng) -> String {
    let bare = text.trim_end_matches(['.', '!']);
    if bare.is_empty() || !bare.ends_with(char::is_alphanumeric) {
        return text.to_string();
    }
    let endings = ["", "", ".", "!", "!!", "!!!", "..."];
    format!("{bare}{}", endings.choose(rng).unwrap_or(&""))
}

/// A first name of `texts[0]` changed for another one in all texts alike.
pub(crate) fn with_other_name(texts: &[&str], rng: &mut impl Rng) -> Vec<String> {
    let found = [WOMEN.as_slice(), MEN.as_slice()].into_iter().find_map(|names| {
        let name = names.iter().find(|name| replaced(texts[0], name, "").is_some())?;
        let others: Vec<&&str> = names.iter().filter(|other| texts.iter().all(|text| replaced(text, other, "").is_none())).collect();
        others.choose(rng).map(|other| (*name, **other))
    });
    let change = |text: &&str| found.and_then(|(name, other)| replaced(text, name, other)).unwrap_or_else(|| (*text).to_string());
    texts.iter().map(change).collect()
}

/// `text` with every whole word `name` (as written, or in capitals) changed; `None` if there is none.
fn replaced(text: &str, name: &str, other: &str) -> Option<String> {
    let mut changed = String::with_capacity(text.len());
    let mut any = false;
    let mut rest = text;
    while let Some(start) = rest.find(char::is_alphabetic) {
        let (between, word_on) = rest.split_at(start);
        let end = word_on.find(|character: char| !character.is_alphabetic()).unwrap_or(word_on.len());
        let (word, after) = word_on.split_at(end);
        changed.push_str(between);
        if word == name {
            changed.push_str(other);
            any = true;
        } else if word == name.to_uppercase() {
            changed.push_str(&other.to_uppercase());
            any = true;
        } else {
            changed.push_str(word);
        }
        rest = after;
    }
    changed.push_str(rest);
    any.then_some(changed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn names_change_in_all_texts_alike_and_in_capitals_too() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let changed = with_other_name(&["MARIA is late", "Maria's bus, and Mariana too"], &mut rng);
        let name = changed[1].split('\'').next().expect("a name").to_string();
        assert!(name != "Maria" && WOMEN.contains(&name.as_str()), "{changed:?}");
        assert_eq!(changed, [format!("{} is late", name.to_uppercase()), format!("{name}'s bus, and Mariana too")]);
        assert_eq!(with_other_name(&["no name here", "Maria"], &mut rng), ["no name here", "Maria"]);
    }

    #[test]
    fn names_of_the_reply_are_not_taken_twice() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for _ in 0..200 {
            let changed = with_other_name(&["Tom hit me", "Tom and Ben should talk"], &mut rng);
            assert!(!changed[1].contains("Ben and Ben") && !changed[0].contains("Ben"), "{changed:?}");
        }
    }

    #[test]
    fn varied_texts_keep_their_words_and_questions_stay_questions() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let (mut capitals, mut small) = (0, 0);
        for _ in 0..1000 {
            let varied = vary("Why is my dog ill?", SurfaceShares { typo: 0.0, ..SurfaceShares::FULL }, &mut rng);
            assert_eq!(varied.to_lowercase(), "why is my dog ill?");
            capitals += usize::from(varied == "WHY IS MY DOG ILL?");
            small += usize::from(varied == "why is my dog ill?");
        }
        assert!((60..150).contains(&capitals) && (150..260).contains(&small), "{capitals} {small}");
    }

    #[test]
    fn typing_errors_touch_one_word_and_leave_its_ends() {
        let mut rng = ChaCha8Rng::seed_from_u64(6);
        for _ in 0..100 {
            let typed = with_typo("we lost the match", &mut rng);
            let changed: Vec<(&str, &str)> = "we lost the match".split(' ').zip(typed.split(' ')).filter(|(a, b)| a != b).collect();
            assert!(changed.len() <= 1, "{typed}");
            let ends = |word: &str| (word.chars().next(), word.chars().last());
            assert!(changed.iter().all(|(a, b)| ends(a) == ends(b)), "{typed}");
        }
    }
}
