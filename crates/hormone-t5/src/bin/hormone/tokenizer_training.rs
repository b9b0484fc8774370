//! Makes the vocabulary: a unigram model with byte fallback (Kudo 2018, as in SentencePiece), from the training texts.
//!
//! Ids: `<pad>` 0, `</s>` 1, `<unk>` 2, `<extra_id_0>` .. `<extra_id_31>` 3 to 34, the bytes `<0x00>` .. `<0xFF>` 35 to 290, then pieces, the likeliest
//! first. What no piece covers is written in bytes, so no text ever gives `<unk>`. A word with its apostrophe ("don't") may be one piece; other marks
//! are never joined to letters, and digits stand alone.

use std::collections::{BTreeMap, HashMap};

use anyhow::{Result, anyhow, ensure};
use tokenizers::decoders::byte_fallback::ByteFallback;
use tokenizers::decoders::fuse::Fuse;
use tokenizers::decoders::sequence::Sequence as DecoderSequence;
use tokenizers::models::unigram::{Unigram, UnigramTrainer};
use tokenizers::normalizers::{NFKC, Replace, Sequence as NormalizerSequence};
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::metaspace::{Metaspace, PrependScheme};
use tokenizers::pre_tokenizers::sequence::Sequence as PreTokenizerSequence;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::processors::template::TemplateProcessing;
use tokenizers::{
    AddedToken, NormalizedString, Normalizer, OffsetReferential, OffsetType, PreTokenizedString, PreTokenizer, SplitDelimiterBehavior,
    Tokenizer, Trainer,
};

use crate::corpora::Corpora;

/// The names of T5's special tokens.
const PAD: &str = "<pad>";
const EOS: &str = "</s>";
const UNK: &str = "<unk>";
const UNK_ID: usize = 2;

/// How many sentinels there are for span corruption.
pub(crate) const SENTINELS: usize = 32;

/// Stands for a space in pieces.
const SPACE: char = '\u{2581}';

/// Score of special tokens and bytes: never preferred to pieces, even where a user types "</s>" or "<0x41>".
const RESERVED_SCORE: f64 = -1e4;

/// Characters rarer than this in the training texts are left to the bytes.
const RAREST_CHARACTER: usize = 12;

/// A space and a piece are glued to one where they meet this often.
const RAREST_GLUED: usize = 40;

/// One sentence in so many is learnt in capitals as well, and one in so many in small letters.
const CAPITALS_EVERY: usize = 20;
const SMALL_LETTERS_EVERY: usize = 10;

/// How often each of our own texts is shown; they hold most of the emoji.
const OWN_WEIGHT: usize = 6;

/// Emoji that are pieces whatever the texts hold.
const EMOJI: &str =
    "😀😂🤣😭😢😊🎉❤️😡🙄👍🥳😍🙏😔🔥✨😅😉😎🤔😘😁😃😄😆🥰😒😞😩😱😤💔💕💖💪👏🙌🤗🤷🤦😳🥺😴🤩😇🙂🙃😬👋💯🎂🌟⭐☀️🐶🐱👀😐😑😠😕🤞☺️";

/// The name of sentinel `index`.
pub(crate) fn sentinel(index: usize) -> String {
    format!("<extra_id_{index}>")
}

/// A `tokenizer.json` of `vocab_size` tokens, learnt from all training texts and our `own`.
pub(crate) fn train(corpora: &Corpora, own: &[&str], vocab_size: usize) -> Result<Vec<u8>> {
    let own = std::iter::repeat_n(own, OWN_WEIGHT).flatten().copied();
    train_on(corpora.training_texts().chain(own), vocab_size)
}

/// The same from any texts.
pub(crate) fn train_on<'a>(texts: impl Iterator<Item = &'a str>, vocab_size: usize) -> Result<Vec<u8>> {
    let reserved = 3 + SENTINELS + 256;
    ensure!(
        vocab_size > reserved + 200,
        "a vocabulary of {vocab_size} tokens has no room: {reserved} are special tokens and bytes, and at least 200 pieces were expected"
    );
    let lines = with_other_cases(&without_rare_characters(texts.collect()));
    let pieces = pieces(&lines, vocab_size - reserved)?;
    let mut vocabulary: Vec<(String, f64)> = reserved_tokens().map(|token| (token, RESERVED_SCORE)).collect();
    vocabulary.extend(pieces);
    Ok(assemble(vocabulary)?.to_string(false).map_err(failed)?.into_bytes())
}

fn reserved_tokens() -> impl Iterator<Item = String> {
    let special = [PAD, EOS, UNK].into_iter().map(str::to_string);
    special.chain((0..SENTINELS).map(sentinel)).chain((0..=255u8).map(|byte| format!("<0x{byte:02X}>")))
}

/// Lines without the characters that occur less than [`RAREST_CHARACTER`] times: every character left becomes a piece.
fn without_rare_characters(lines: Vec<&str>) -> Vec<&str> {
    let mut counts: HashMap<char, usize> = HashMap::new();
    for character in lines.iter().flat_map(|line| line.chars()) {
        *counts.entry(character).or_default() += 1;
    }
    lines.into_iter().filter(|line| line.chars().all(|character| character.is_ascii() || counts[&character] >= RAREST_CHARACTER)).collect()
}

fn with_other_cases(lines: &[&str]) -> Vec<String> {
    let capitals = lines.iter().step_by(CAPITALS_EVERY).map(|line| line.to_uppercase());
    let small = lines.iter().skip(1).step_by(SMALL_LETTERS_EVERY).map(|line| line.to_lowercase());
    lines.iter().map(ToString::to_string).chain(capitals).chain(small).collect()
}

/// The `count` likeliest pieces with their log probabilities, the likeliest first.
fn pieces(lines: &[String], count: usize) -> Result<Vec<(String, f64)>> {
    let alphabet = ('!'..='~').chain(EMOJI.chars()).chain([SPACE]);
    // What is taken out again below is asked for in addition.
    let spare = END_MARKS.clone().count() + count / 20;
    let mut trainer = UnigramTrainer::builder()
        .vocab_size(u32::try_from(count + spare)?)
        .unk_token(Some(UNK.to_string()))
        .initial_alphabet(alphabet.collect())
        .show_progress(false)
        .build()?;
    let (normalizer, pre_tokenizer) = (normalizer()?, pre_tokenizer()?);
    let mut lines_of_words = lines.iter().map(|line| words(line, &normalizer, &pre_tokenizer)).collect::<Result<Vec<Vec<String>>>>()?;
    lines_of_words.extend(marked_words(&lines_of_words));
    let joined: Vec<String> = lines_of_words.iter().map(|words| words.join("\n")).collect();
    trainer.feed(joined.iter(), |line| Ok(line.split('\n').map(str::to_string).collect())).map_err(failed)?;
    let mut model = Unigram::default();
    trainer.train(&mut model).map_err(failed)?;
    let pieces: Vec<(String, f64)> = model.iter().filter(|(piece, _)| piece != UNK && !piece.contains(is_end_mark)).cloned().collect();
    let glued = glued_pieces(&model, &lines_of_words, count / 20)?;
    Ok(likeliest(pieces.into_iter().chain(glued).collect(), count))
}

/// The `count` likeliest, the likeliest first. Characters stay even where they are rare, or they would fall to bytes.
fn likeliest(mut pieces: Vec<(String, f64)>, count: usize) -> Vec<(String, f64)> {
    pieces.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let mut surplus = pieces.len().saturating_sub(count);
    let mut kept: Vec<(String, f64)> = Vec::with_capacity(count);
    for piece in pieces.into_iter().rev() {
        if surplus > 0 && piece.0.chars().count() > 1 {
            surplus -= 1;
        } else {
            kept.push(piece);
        }
    }
    kept.reverse();
    kept
}

/// Up to `count` frequent word beginnings that the model writes as a lone space and a piece ("a" and "i" among them), each glued to one piece.
fn glued_pieces(model: &Unigram, lines: &[Vec<String>], count: usize) -> Result<Vec<(String, f64)>> {
    let space = SPACE.to_string();
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    let mut total = 0;
    for (word, times) in word_counts(lines) {
        let parts = model.encode(word).map_err(failed)?;
        total += parts.len() * times;
        if parts.len() > 1 && parts[0] == space && !word.contains(is_end_mark) {
            *found.entry(format!("{space}{}", parts[1])).or_default() += times;
        }
    }
    let mut glued: Vec<(String, usize)> = found.into_iter().filter(|(_, times)| *times >= RAREST_GLUED).collect();
    glued.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    glued.truncate(count);
    Ok(glued.into_iter().map(|(piece, times)| (piece, (times as f64 / total as f64).ln())).collect())
}

fn word_counts(lines: &[Vec<String>]) -> BTreeMap<&str, usize> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for word in lines.iter().flatten() {
        *counts.entry(word).or_default() += 1;
    }
    counts
}

/// Private characters, put behind words by [`marked_words`].
const END_MARKS: std::ops::RangeInclusive<char> = '\u{e000}'..='\u{e03f}';

fn is_end_mark(character: char) -> bool {
    END_MARKS.contains(&character)
}

/// Every frequent word once more, with a mark behind it.
///
/// The trainer takes its candidates from strings that two different words share, so a word that is part of no other could never become a piece. With
/// a marked twin it can. There are many marks, so that an ending with a mark stays too rare to become a piece itself.
fn marked_words(lines: &[Vec<String>]) -> Vec<Vec<String>> {
    let frequent = word_counts(lines).into_iter().filter(|(_, count)| *count > 4).map(|(word, _)| word);
    frequent.zip(END_MARKS.cycle()).map(|(word, mark)| vec![format!("{word}{mark}")]).collect()
}

/// The words of a line as the tokenizer will part them.
fn words(line: &str, normalizer: &NormalizerSequence, pre_tokenizer: &PreTokenizerSequence) -> Result<Vec<String>> {
    let mut normalized = NormalizedString::from(line);
    normalizer.normalize(&mut normalized).map_err(failed)?;
    let mut split = PreTokenizedString::from(normalized);
    pre_tokenizer.pre_tokenize(&mut split).map_err(failed)?;
    Ok(split.get_splits(OffsetReferential::Original, OffsetType::Byte).into_iter().map(|(word, _, _)| word.to_string()).collect())
}

/// The tokenizer around a vocabulary.
fn assemble(vocabulary: Vec<(String, f64)>) -> Result<Tokenizer> {
    let model = Unigram::from(vocabulary, Some(UNK_ID), true).map_err(failed)?;
    let mut tokenizer = Tokenizer::new(model);
    tokenizer.with_normalizer(Some(normalizer()?));
    tokenizer.with_pre_tokenizer(Some(pre_tokenizer()?));
    tokenizer.with_decoder(Some(DecoderSequence::new(vec![ByteFallback::new().into(), metaspace().into(), Fuse::new().into()])));
    let ends = TemplateProcessing::builder()
        .try_single(format!("$A {EOS}"))
        .map_err(|error| anyhow!(error))?
        .special_tokens(vec![(EOS, 1)])
        .build()?;
    tokenizer.with_post_processor(Some(ends));
    // A sentinel takes the space before it along, which would else become a piece of its own.
    let sentinels = (0..SENTINELS).map(|index| AddedToken::from(sentinel(index), true).lstrip(true));
    let special: Vec<AddedToken> = [PAD, EOS, UNK].into_iter().map(|token| AddedToken::from(token, true)).chain(sentinels).collect();
    tokenizer.add_special_tokens(&special);
    Ok(tokenizer)
}

/// One spelling for characters that look alike, and for the quotes and dashes that telephones type. Case, emoji and white space stay.
fn normalizer() -> Result<NormalizerSequence> {
    let replacements = [("\u{2018}", "'"), ("\u{2019}", "'"), ("\u{201c}", "\""), ("\u{201d}", "\""), ("\u{2013}", "-"), ("\u{2014}", "-")];
    let mut steps = vec![NFKC.into()];
    for (from, to) in replacements {
        steps.push(Replace::new(from, to).map_err(failed)?.into());
    }
    Ok(NormalizerSequence::new(steps))
}

/// Spaces open words; words and the marks beside them part; digits stand alone.
fn pre_tokenizer() -> Result<PreTokenizerSequence> {
    let word = format!(r"{SPACE}?[\p{{L}}\p{{M}}]+(?:'[\p{{L}}\p{{M}}]+)*");
    let words = Split::new(SplitPattern::Regex(word), SplitDelimiterBehavior::Isolated, false).map_err(failed)?;
    Ok(PreTokenizerSequence::new(vec![metaspace().into(), words.into(), Digits::new(true).into()]))
}

fn metaspace() -> Metaspace {
    Metaspace::new(SPACE, PrependScheme::Always, true)
}

fn failed(error: tokenizers::Error) -> anyhow::Error {
    anyhow!("the tokenizer could not be made: {error}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiny() -> Tokenizer {
        let lines = [
            "I'm so happy today!!! 😂😂",
            "don't be sad, my dog is well",
            "WHY WOULD YOU SAY THAT?!",
            "It costs 2024 euros, café ❤️",
            "the dog said that the day was sad",
        ];
        let json = train_on(std::iter::repeat_n(lines, 30).flatten(), 600).expect("a tokenizer");
        Tokenizer::from_bytes(json).expect("readable JSON")
    }

    #[test]
    fn special_tokens_sentinels_and_bytes_come_first() {
        let tokenizer = tiny();
        for (token, id) in
            [("<pad>", 0), ("</s>", 1), ("<unk>", 2), ("<extra_id_0>", 3), ("<extra_id_31>", 34), ("<0x00>", 35), ("<0xFF>", 290)]
        {
            assert_eq!(tokenizer.token_to_id(token), Some(id), "{token}");
        }
    }

    #[test]
    fn every_text_comes_back_and_none_gives_unknown() {
        let tokenizer = tiny();
        let texts = [
            "I'm so HAPPY!!! 😂😂",
            "{}~^\\ <0x41> | `x`",
            "tab\there",
            "a  b   c",
            "Zażółć gęślą jaźń 你好 🏳️‍🌈 👩🏽‍🚀",
            "1234567890",
            "❤️",
            "<extra_id_99> & </p>",
            "\"What?!\" she said; (no).",
        ];
        for text in texts {
            let encoding = tokenizer.encode(text, true).expect("encodable");
            assert!(!encoding.get_ids().contains(&2), "{text}: {:?}", encoding.get_tokens());
            assert_eq!(encoding.get_ids().last(), Some(&1));
            assert_eq!(tokenizer.decode(encoding.get_ids(), true).expect("decodable"), text);
        }
    }

    #[test]
    fn typed_special_tokens_are_plain_characters_when_asked_for() {
        let mut tokenizer = tiny();
        tokenizer.set_encode_special_tokens(true);
        let ids = tokenizer.encode("stop </s> <pad>", false).expect("encodable").get_ids().to_vec();
        assert!(ids.iter().all(|id| *id > 290), "{ids:?}");
    }

    #[test]
    fn sentinels_are_one_token_each_and_take_the_space_before_them_along() {
        let tokenizer = tiny();
        let ids = tokenizer.encode("the <extra_id_0> was <extra_id_31>", false).expect("encodable").get_ids().to_vec();
        let id = |token: &str| tokenizer.token_to_id(token).expect("a token");
        assert_eq!(ids, [id("\u{2581}the"), 3, id("\u{2581}was"), 34]);
    }

    #[test]
    fn offsets_are_places_in_the_text_as_it_was_typed() {
        let tokenizer = tiny();
        let text = "I\u{2019}m sad 😭 \u{ff41}\u{ff42} now";
        let encoding = tokenizer.encode(text, false).expect("encodable");
        for (start, end) in encoding.get_offsets() {
            assert!(text.is_char_boundary(*start) && text.is_char_boundary(*end), "{start}..{end}");
        }
        let (last, _) = encoding.get_offsets()[encoding.len() - 1];
        assert!(last >= text.find("now").expect("a word") - 1);
    }

    #[test]
    fn frequent_words_emoji_and_marks_are_one_piece_and_digits_stand_alone() {
        let tokenizer = tiny();
        let tokens = |text: &str| tokenizer.encode(text, false).expect("encodable").get_tokens().to_vec();
        assert_eq!(tokens("don't"), ["\u{2581}don't"]);
        assert_eq!(tokens("today!!!"), ["\u{2581}today", "!!!"]);
        assert_eq!(tokens("dog\u{1f602}").last().map(String::as_str), Some("\u{1f602}"));
        assert_eq!(tokens("2024"), ["\u{2581}", "2", "0", "2", "4"]);
    }

    #[test]
    fn vocabulary_without_room_for_pieces_is_refused() {
        let error = train_on(["a b"].into_iter(), 300).expect_err("too small");
        assert!(error.to_string().contains("no room"), "{error}");
    }
}
