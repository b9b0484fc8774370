//! GoEmotions (Google, CC BY 4.0): Reddit comments with the feelings that readers saw in them.
//!
//! `train.tsv`, `dev.tsv`, `test.tsv`: `text \t label ids, comma-separated \t comment id`; ids count the lines of `emotions.txt` from 0.
//! Texts are tidied but never dropped for their characters, so that figures compare with others'.

use std::collections::HashSet;
use std::path::Path;

use anyhow::{Context, Result};

use super::label_levels::LabelLevels;
use super::{GoEmotions, LabelledText, read_text, tidy};

/// Put for `[NAME]`: first names of many places.
#[rustfmt::skip]
const NAMES: [&str; 48] = [
    "Anna", "Ben", "Carlos", "Dina", "Emma", "Farid", "Grace", "Hassan", "Ines", "Jack", "Kofi", "Lena", "Mia", "Noah", "Olga", "Pedro",
    "Quinn", "Rosa", "Sam", "Tara", "Uma", "Victor", "Wei", "Yusuf", "Zoe", "Aisha", "Bram", "Chloe", "David", "Elif", "Fatima",
    "George", "Hiro", "Ivan", "Julia", "Kate", "Liam", "Maria", "Nadia", "Omar", "Priya", "Ravi", "Sofia", "Tom", "Lucy", "Max", "Sara",
    "Paul",
];

/// Put for `[RELIGION]`, evenly, so that none of them comes to mean a feeling.
const RELIGIONS: [&str; 6] = ["Christian", "Muslim", "Buddhist", "Hindu", "Jewish", "Sikh"];

/// Reads the three parts; texts of `train` that are also in another part (lower-cased) are left out.
pub(super) fn goemotions(folder: &Path) -> Result<GoEmotions> {
    let emotions = read_text(&folder.join("emotions.txt"), "the names of 28 feelings, one a line")?;
    let names: Vec<&str> = emotions.lines().filter(|line| !line.is_empty()).collect();
    let dev = part(&folder.join("dev.tsv"), &names, &HashSet::new())?;
    let test = part(&folder.join("test.tsv"), &names, &HashSet::new())?;
    let held_out: HashSet<String> = raw_texts(&folder.join("dev.tsv"))?.into_iter().chain(raw_texts(&folder.join("test.tsv"))?).collect();
    let train = part(&folder.join("train.tsv"), &names, &held_out)?;
    Ok(GoEmotions { train, dev, test })
}

const ROW: &str = "rows of text, tab, label ids, tab, comment id";

fn raw_texts(path: &Path) -> Result<Vec<String>> {
    Ok(read_text(path, ROW)?.lines().filter_map(|line| line.split('\t').next()).map(str::to_lowercase).collect())
}

fn part(path: &Path, names: &[&str], left_out: &HashSet<String>) -> Result<Vec<LabelledText>> {
    let table = LabelLevels::load()?;
    let mut rows = Vec::new();
    for (index, line) in read_text(path, ROW)?.lines().enumerate() {
        let place = || format!("{}, line {}: expected {ROW}", path.display(), index + 1);
        let mut columns = line.split('\t');
        let text = columns.next().with_context(place)?;
        let ids = columns.next().with_context(place)?;
        if left_out.contains(&text.to_lowercase()) {
            continue;
        }
        let label = |id: &str| id.parse::<usize>().ok().and_then(|id| names.get(id)).map(ToString::to_string);
        let labels = ids.split(',').map(|id| label(id).with_context(place)).collect::<Result<Vec<String>>>()?;
        let (tone, levels) = (table.tone(&labels).with_context(place)?, table.mean(&labels).with_context(place)?);
        rows.push(LabelledText { text: tidy(&without_masks(text)), tone, levels });
    }
    Ok(rows)
}

/// `[NAME]` and `[RELIGION]` replaced; which names come is a function of the text.
fn without_masks(text: &str) -> String {
    let mut turn =
        text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)) as usize;
    let mut plain = text.to_string();
    for (mask, words) in [("[NAME]", NAMES.as_slice()), ("[RELIGION]", RELIGIONS.as_slice())] {
        while plain.contains(mask) {
            plain = plain.replacen(mask, words[turn % words.len()], 1);
            turn = turn.wrapping_add(17);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use hormone_t5::Tone;

    use super::*;

    #[test]
    fn masked_names_become_different_names_the_same_ones_each_time() {
        let text = without_masks("I met [NAME] and [NAME], a [RELIGION] man");
        assert!(!text.contains('['), "{text}");
        assert_eq!(text, without_masks("I met [NAME] and [NAME], a [RELIGION] man"));
        let names: HashSet<&str> = text.split([' ', ',']).filter(|word| NAMES.contains(word)).collect();
        assert_eq!(names.len(), 2, "{text}");
    }

    #[test]
    fn rows_are_labelled_and_texts_of_other_parts_left_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
        write("emotions.txt", "joy\nsadness\nneutral\ngrief\n");
        write("dev.tsv", "Seen before\t0\ta\n");
        write("test.tsv", "so sad\t1,3\tb\n");
        write("train.tsv", "SEEN before\t0\tc\nmixed\t0,1\td\nyay\t0\te\n");
        let rows = goemotions(folder.path()).expect("readable");
        assert_eq!(rows.test[0].tone, Some(Tone::Sad));
        let train: Vec<_> = rows.train.iter().map(|row| (row.text.as_str(), row.tone)).collect();
        assert_eq!(train, [("mixed", None), ("yay", Some(Tone::Excited))]);
    }

    #[test]
    fn row_without_labels_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in [("emotions.txt", "joy\n"), ("dev.tsv", "fine\t0\ta\n"), ("test.tsv", "broken\n"), ("train.tsv", "")] {
            std::fs::write(folder.path().join(name), text).expect("written");
        }
        let error = goemotions(folder.path()).expect_err("a broken row");
        assert!(format!("{error:#}").contains("test.tsv, line 1"), "{error:#}");
    }
}
