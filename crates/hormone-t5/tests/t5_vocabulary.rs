//! T5's own vocabulary, where it is at hand; it is not part of this repository.

use std::path::Path;

use hormone_t5::{Result, TextTokenizer};

fn t5_tokenizer() -> Option<Result<TextTokenizer>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/t5-vocab/tokenizer.json");
    match std::fs::read(&path) {
        Ok(json) => Some(TextTokenizer::from_json(&json, 1)),
        Err(_) => {
            println!("skipped: T5's vocabulary is not at {}", path.display());
            None
        }
    }
}

#[test]
fn a_known_sentence_has_t5s_known_ids() -> Result<()> {
    let Some(tokenizer) = t5_tokenizer().transpose()? else { return Ok(()) };
    let encoded = tokenizer.encode("", "translate English to German: That is good.", 128)?;
    assert_eq!(encoded.ids(), [13959, 1566, 12, 2968, 10, 466, 19, 207, 5, 1]);
    assert_eq!(tokenizer.decode(&encoded.ids())?, "translate English to German: That is good.");
    Ok(())
}

#[test]
fn what_t5_does_not_know_is_reported_where_it_stands() -> Result<()> {
    let Some(tokenizer) = t5_tokenizer().transpose()? else { return Ok(()) };
    let text = "so happy 😂 {today}";
    let unknown = tokenizer.encode("", text, 128)?.unknown;
    let found = |mark: &str| unknown.iter().any(|unknown| text[unknown.start..].starts_with(mark) && unknown.text.starts_with(mark));
    assert!(found("😂") && found("{") && found("}"), "{unknown:?}");
    Ok(())
}

#[test]
fn a_prompt_prefix_moves_no_places() -> Result<()> {
    let Some(tokenizer) = t5_tokenizer().transpose()? else { return Ok(()) };
    let text = "That is GREAT!";
    let encoded = tokenizer.encode("emotional response in English: ", text, 128)?;
    let words: Vec<&str> = text.split(' ').collect();
    let placed: Vec<_> = encoded.tokens.iter().filter(|token| token.word.is_some()).collect();
    assert_eq!((placed.first().map(|token| token.start), placed.last().map(|token| token.end)), (Some(0), Some(text.len())));
    assert!(placed.iter().all(|token| token.word.is_some_and(|word| words[word].contains(&text[token.start..token.end]))));
    Ok(())
}
