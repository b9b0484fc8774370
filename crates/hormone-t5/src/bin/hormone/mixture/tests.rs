use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use super::*;
use crate::corpora::tests::shared_data;

const REPLIES: [&str; 5] = ["flat", "mild", "strong", "no", "yes"];

/// Some dialogues of every tone.
fn dialogues() -> Split {
    let folder = tempfile::tempdir().expect("a folder");
    let mut lines = String::new();
    for tone in Tone::ALL {
        for number in 0..20 {
            let (name, text) = (tone.name(), |kind: &str| format!("{kind} reply {number}"));
            let others: Vec<String> = Tone::ALL
                .into_iter()
                .filter(|other| *other != tone && number % 2 == 0)
                .map(|other| format!("\"{0}\":\"{0} reply\"", other.name()))
                .collect();
            writeln!(
                lines,
                r#"{{"id":"{name}-{number}","tone":"{name}","topic":"daily","input":"{name} message {number}","flat":"{}","mild":"{}","strong":"{}","other":{{{}}}}}"#,
                text("flat"),
                text("mild"),
                text("strong"),
                others.join(",")
            )
            .expect("written");
        }
    }
    let path = folder.path().join("dialogues.jsonl");
    std::fs::write(&path, lines).expect("written");
    Split::new(crate::dialogues::load(&path).expect("readable"), 1)
}

/// Messages of every tone, answered in every voice, and some that are not answered.
fn exchanges() -> Exchanges {
    let folder = tempfile::tempdir().expect("a folder");
    let mut lines = String::new();
    for tone in Tone::ALL {
        for number in 0..60 {
            let (name, other) = (tone.name(), Tone::ALL[number % 5].name());
            let replies = match number % 6 {
                0 => String::new(),
                _ => format!(
                    r#""flat":"flat reply to {name} {number}","mild {other}":"mild {other} to {name} {number}","{other}":"{other} reply""#
                ),
            };
            writeln!(lines, r#"{{"tone":"{name}","topic":"daily","input":"{name} exchange {number}","replies":{{{replies}}}}}"#)
                .expect("written");
        }
    }
    let path = folder.path().join("exchanges.jsonl");
    std::fs::write(&path, lines).expect("written");
    Exchanges::load(&path, 1).expect("readable")
}

/// A few texts of every kind.
fn corpora() -> Corpora {
    let mut corpora = Corpora::default();
    for tone in Tone::ALL {
        for number in 0..50 {
            let row = |text: String| LabelledText { text, tone: Some(tone), levels: tone.levels() };
            corpora.goemotions.train.push(row(format!("I lost {number} of my keys, {}", tone.name())));
            corpora.goemotions.dev.push(row(format!("unseen {number} {}", tone.name())));
        }
    }
    let pair = |tone| TurnPair { message: "Do you like tea?".into(), reply: "I like green tea.".into(), tone };
    for list in [
        &mut corpora.persona_chat,
        &mut corpora.topical_chat,
        &mut corpora.personality_chat,
        &mut corpora.qna_chitchat,
        &mut corpora.chatterbot,
    ] {
        list.extend([pair(None), pair(Some(Tone::Friendly))]);
    }
    corpora.tatoeba = (0..400).map(|number| format!("I have {number} cows in my garden today.")).collect();
    corpora
}

fn mixture() -> Mixture {
    Mixture::new(corpora(), dialogues(), exchanges(), MixtureConfig::default(), 7).expect("a mixture")
}

#[test]
fn batches_depend_on_seed_and_step_alone() {
    let (first, second) = (mixture(), mixture());
    first.batch(4, 16);
    assert_eq!(first.batch(5, 16), second.batch(5, 16));
    assert_ne!(first.batch(5, 16), second.batch(6, 16));
}

#[test]
fn kinds_are_drawn_by_their_weights() {
    let mut counts: HashMap<Kind, usize> = HashMap::new();
    for example in mixture().batch(0, 4000) {
        *counts.entry(example.kind).or_default() += 1;
    }
    for (kind, weight) in Kind::ALL.into_iter().zip(MixtureConfig::default().weights()) {
        let share = counts.get(&kind).copied().unwrap_or_default() as f64 / 4000.0;
        assert!((share - weight).abs() < 0.03, "{kind:?}: {share}");
    }
}

#[test]
fn strength_of_dialogue_replies_follows_alpha() {
    for example in mixture().batch(1, 4000).iter().filter(|example| example.kind == Kind::Dialogue) {
        let reply = example.target.as_deref().expect("a reply");
        let kind = REPLIES.iter().find(|kind| reply.starts_with(**kind)).copied().unwrap_or("other");
        match (kind, example.alpha) {
            ("flat", Some(0.0)) | ("strong", None) => {}
            // An exchange in its own tone.
            ("other", None) => assert_eq!(example.reply_levels, None),
            ("mild", Some(alpha)) => assert!(MILD_ALPHA.contains(&alpha)),
            ("strong" | "other", Some(alpha)) => assert!(STRONG_ALPHA.contains(&alpha)),
            other => panic!("{other:?}: {example:?}"),
        }
        if kind == "other" && example.source.contains("message") {
            let levels = example.reply_levels.expect("levels");
            assert_eq!(reply, format!("{} reply", Tone::nearest(levels).name()));
            assert_ne!(example.target_levels.map(Tone::nearest), Some(Tone::nearest(levels)));
        }
    }
}

#[test]
fn replies_of_exchanges_come_under_the_levels_of_their_voice() {
    let mut seen = HashSet::new();
    let examples = mixture().batch(5, 6000);
    for example in examples.iter().filter(|example| example.kind == Kind::Dialogue && example.source.to_lowercase().contains("exchange")) {
        let reply = example.target.as_deref().expect("a reply");
        let Some(levels) = example.reply_levels else { continue };
        assert!(reply.contains(Tone::nearest(levels).name()), "{reply}: {levels:?}");
        seen.insert((Tone::nearest(levels), reply.starts_with("mild")));
    }
    assert_eq!(seen.len(), 10, "{seen:?}");
}

#[test]
fn messages_and_replies_are_read_apart_each_with_the_levels_that_it_shows() {
    let config = MixtureConfig { levels: 1.0, own_levels: 1.0, voiced: 1.0, ..MixtureConfig::default() };
    let mixture = Mixture::new(corpora(), dialogues(), exchanges(), config, 7).expect("a mixture");
    let drawn = |kind: Kind| {
        let examples = mixture.batch(6, 4000).into_iter().filter(move |example| example.kind == kind);
        examples.map(|example| (example.source.to_lowercase(), example.target_levels.expect("levels"))).collect::<Vec<_>>()
    };
    assert!(drawn(Kind::Levels).iter().all(|(source, _)| !source.contains("reply")));
    let voiced = drawn(Kind::Voiced);
    assert!(voiced.iter().any(|(source, levels)| source.starts_with("flat") && Tone::nearest(*levels) == Tone::Neutral));
    let reflective: HashSet<Tone> =
        voiced.iter().filter(|(source, _)| source.contains("cows")).map(|(_, levels)| Tone::nearest(*levels)).collect();
    assert_eq!(reflective.len(), 5, "tones of reflective replies: {reflective:?}");
    assert!(voiced.iter().all(|(source, levels)| !source.starts_with("rude reply") || Tone::nearest(*levels) == Tone::Rude));
}

#[test]
fn texts_without_a_label_come_with_levels_of_the_word_teacher() {
    let config = MixtureConfig { levels: 1.0, taught_levels: 1.0, ..MixtureConfig::default() };
    let mixture = Mixture::new(corpora(), dialogues(), exchanges(), config, 7).expect("a mixture");
    let taught: Vec<Example> = mixture.batch(10, 1000).into_iter().filter(|example| example.kind == Kind::Levels).collect();
    assert!(taught.iter().any(|example| example.source.contains("cows")) && taught.iter().any(|example| example.source.contains("tea")));
    for example in taught {
        assert!(!example.source.contains("my keys"), "{} has a label", example.source);
        assert!(example.target_levels.is_some() && example.target.is_none());
    }
}

#[test]
fn what_a_teacher_elsewhere_has_read_is_learnt_with_its_tones_in_place_of_the_word_teachers() {
    let tones = [0.1, 0.2, 0.3, 0.4, 0.0];
    let text = |text: &str| crate::corpora::TaughtText { text: text.into(), tones };
    let held_out = (0..1000).map(|number| format!("text {number}")).find(|text| is_held_out(text)).expect("one in a hundred");
    let corpora = Corpora { taught: vec![text("a wholly new sentence"), text(&held_out)], ..corpora() };
    let config = MixtureConfig { levels: 1.0, taught_levels: 1.0, ..MixtureConfig::default() };
    let mixture = Mixture::new(corpora, dialogues(), exchanges(), config, 7).expect("a mixture");
    let taught: Vec<Example> = mixture.batch(11, 500).into_iter().filter(|example| example.kind == Kind::Levels).collect();
    assert!(taught.len() > 100);
    for example in taught {
        assert_eq!((example.target_tones, example.target_levels), (Some(tones), Some(levels_of(&tones))), "{example:?}");
        assert!(!example.source.to_lowercase().contains("text"), "{} is held out", example.source);
    }
}

#[test]
fn a_mild_reply_shows_half_of_its_tone() {
    let config = MixtureConfig { voiced: 1.0, ..MixtureConfig::default() };
    let mixture = Mixture::new(corpora(), dialogues(), exchanges(), config, 7).expect("a mixture");
    let mild = mixture.batch(8, 2000).into_iter().filter(|example| example.source.to_lowercase().starts_with("mild rude"));
    let distances: Vec<f32> = mild.map(|example| example.target_levels.expect("levels").distance(Tone::Neutral.levels())).collect();
    let half = 0.5 * Tone::Rude.levels().distance(Tone::Neutral.levels());
    assert!(!distances.is_empty() && distances.iter().all(|distance| (distance - half).abs() < 1e-5), "{distances:?}");
}

#[test]
fn flat_replies_may_come_under_any_levels_at_a_strength_near_0() {
    let config = MixtureConfig { dialogue: 1.0, exchanges: 1.0, faint_flat: 0.5, ..MixtureConfig::default() };
    let mixture = Mixture::new(corpora(), dialogues(), exchanges(), config, 7).expect("a mixture");
    let flat =
        mixture.batch(9, 4000).into_iter().filter(|example| example.target.as_deref().is_some_and(|reply| reply.starts_with("flat")));
    let (plain, faint): (Vec<Example>, Vec<Example>) =
        flat.filter(|example| example.kind == Kind::Dialogue).partition(|example| example.alpha == Some(0.0));
    assert!(!plain.is_empty() && plain.iter().all(|example| example.reply_levels.is_none()));
    let tones: HashSet<Tone> = faint.iter().filter_map(|example| example.reply_levels).map(Tone::nearest).collect();
    assert!(tones.len() == 5 && faint.iter().all(|example| FAINT_ALPHA.contains(&example.alpha.expect("a strength"))));
}

#[test]
fn repeated_messages_are_repeated_cleanly_under_any_levels() {
    let config = MixtureConfig { repeat: 1.0, ..MixtureConfig::default() };
    let mixture = Mixture::new(corpora(), dialogues(), exchanges(), config, 7).expect("a mixture");
    let examples: Vec<Example> = mixture.batch(7, 1000).into_iter().filter(|example| example.kind == Kind::Repeat).collect();
    let sentences: HashSet<String> = mixture.sentences.iter().cloned().collect();
    assert!(examples.iter().all(|example| sentences.contains(example.target.as_deref().unwrap_or_default())));
    assert!(examples.iter().any(|example| example.target.as_deref() != Some(example.source.as_str())), "nothing is typed otherwise");
    let tones: HashSet<Option<Tone>> = examples.iter().map(|example| example.reply_levels.map(Tone::nearest)).collect();
    assert_eq!(tones.len(), 6);
}

#[test]
fn tone_of_reflections_is_independent_of_the_message_and_told_by_the_levels() {
    let mixture = mixture();
    let frames = Frames::load().expect("frames");
    let mut seen: HashMap<(Option<Tone>, Tone), usize> = HashMap::new();
    for example in
        mixture.batch(2, 6000).iter().filter(|example| matches!(example.kind, Kind::Reflection | Kind::Levels) && example.alpha > Some(0.0))
    {
        let Some(levels) = example.reply_levels else { continue };
        let tone = Tone::nearest(levels);
        assert!(levels.distance(tone.levels()) <= 0.04 * 6f32.sqrt());
        *seen.entry((example.target_levels.map(Tone::nearest), tone)).or_default() += 1;
        let strength = if MILD_ALPHA.contains(&example.alpha.unwrap_or_default()) {
            crate::reflection::Strength::Mild
        } else {
            crate::reflection::Strength::Strong
        };
        let reply = example.target.as_deref().expect("a reply");
        let fits = |frame: &String| frame.split(['{', '}']).step_by(2).all(|part| reply.contains(part));
        assert!(frames.of(crate::reflection::Subject::Writer, tone, strength).iter().any(fits), "{tone:?}: {reply}");
    }
    assert!(seen.len() >= 25, "{seen:?}");
}

#[test]
fn reflections_are_of_our_own_messages_by_their_share_and_have_their_levels() {
    let mut split = dialogues();
    split.train.iter_mut().for_each(|dialogue| dialogue.input = format!("I found {} apples, {}", dialogue.id, dialogue.tone.name()));
    let config = MixtureConfig { reflection: 1.0, own_reflections: 0.5, ..MixtureConfig::default() };
    let mixture = Mixture::new(corpora(), split, exchanges(), config, 7).expect("a mixture");
    let reflections: Vec<Example> = mixture.batch(11, 2000).into_iter().filter(|example| example.kind == Kind::Reflection).collect();
    let own: Vec<&Example> = reflections.iter().filter(|example| example.source.to_lowercase().contains("apples")).collect();
    let share = own.len() as f64 / reflections.len() as f64;
    assert!((0.4..0.6).contains(&share), "{share}");
    for example in own {
        let tone = Tone::nearest(example.target_levels.expect("levels"));
        assert!(example.source.to_lowercase().contains(tone.name()), "{example:?}");
    }
}

#[test]
fn faint_reflections_are_flat_whatever_the_levels() {
    let config = MixtureConfig { reflection: 1.0, faint_flat: 0.5, ..MixtureConfig::default() };
    let mixture = Mixture::new(corpora(), dialogues(), exchanges(), config, 7).expect("a mixture");
    let frames = Frames::load().expect("frames");
    let flat = frames.of(crate::reflection::Subject::Writer, Tone::Neutral, crate::reflection::Strength::Flat);
    let examples = mixture.batch(12, 2000).into_iter().filter(|example| example.kind == Kind::Reflection);
    let faint: Vec<Example> = examples.filter(|example| example.alpha.is_some_and(|alpha| FAINT_ALPHA.contains(&alpha))).collect();
    for example in &faint {
        let reply = example.target.as_deref().expect("a reply");
        let fits = |frame: &String| frame.split(['{', '}']).step_by(2).all(|part| reply.contains(part));
        assert!(flat.iter().any(fits), "{example:?}");
    }
    let tones: HashSet<Tone> = faint.iter().filter_map(|example| example.reply_levels).map(Tone::nearest).collect();
    assert_eq!(tones.len(), 5);
}

#[test]
fn delicate_messages_get_gentle_replies_only() {
    let mut corpora = corpora();
    corpora.tatoeba = (0..400).map(|number| format!("My dog died {number} days ago.")).collect();
    let mixture = Mixture::new(corpora, dialogues(), exchanges(), MixtureConfig::default(), 7).expect("a mixture");
    let tones: HashSet<Tone> = mixture
        .batch(0, 3000)
        .iter()
        .filter(|example| example.kind != Kind::Repeat && example.source.to_lowercase().contains("dog"))
        .filter_map(|example| example.reply_levels)
        .map(Tone::nearest)
        .collect();
    assert_eq!(tones, HashSet::from([Tone::Friendly, Tone::Neutral, Tone::Sad]));
}

#[test]
fn held_out_texts_are_never_drawn() {
    let mut corpora = corpora();
    let pair =
        |number: usize| TurnPair { message: format!("I saw {number} herons on my walk."), reply: "I like herons.".into(), tone: None };
    corpora.persona_chat = (0..400).map(pair).collect();
    let config = MixtureConfig { next_turn: 0.5, levels: 0.5, taught_levels: 0.5, ..MixtureConfig::default() };
    let mixture = Mixture::new(corpora, dialogues(), exchanges(), config, 7).expect("a mixture");
    let held_out: HashSet<String> = mixture.held_out().iter().map(|example| example.source.to_lowercase()).collect();
    let reflections = || mixture.held_out().iter().filter(|example| example.kind == Kind::Reflection);
    assert!(reflections().any(|example| example.source.contains("herons")) && reflections().any(|example| example.source.contains("cows")));
    assert!(mixture.held_out().iter().any(|example| example.kind == Kind::Dialogue));
    let leak = mixture
        .batch(3, 4000)
        .into_iter()
        .find(|example| example.kind != Kind::Denoise && held_out.contains(&example.source.to_lowercase()));
    assert_eq!(leak, None);
}

#[test]
fn share_out_of_range_is_refused() {
    let config = MixtureConfig { flat: 1.5, ..MixtureConfig::default() };
    let error = Mixture::new(corpora(), dialogues(), exchanges(), config, 1).expect_err("a share above 1");
    assert!(error.to_string().contains("flat is 1.5"), "{error}");
}

#[test]
fn no_drawn_reply_is_coarse() {
    let Some(folder) = shared_data() else { return };
    let mixture = Mixture::new(Corpora::load(&folder).expect("readable corpora"), dialogues(), exchanges(), MixtureConfig::default(), 7)
        .expect("a mixture");
    println!("{:?}, {} held out", mixture.reflections.counts(), mixture.held_out().len());
    for (step, example) in (0..20).flat_map(|step| mixture.batch(step, 200).into_iter().map(move |example| (step, example))) {
        assert!(!is_coarse(example.target.as_deref().unwrap_or_default()), "step {step}: {example:?}");
    }
}
