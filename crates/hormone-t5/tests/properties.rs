//! What must hold for any weights and any text.

mod common;

use candle_core::{DType, Device, Tensor};
use common::{assert_close, ids, mask, model};
use hormone_t5::hormone_block::{Alpha, levels_tensor};
use hormone_t5::pipeline::Progress;
use hormone_t5::{Decoding, Error, GenerationConfig, HormoneLevels, Result, Tone};

const SHORT: &[u32] = &[5, 9, 1];
const LONG: &[u32] = &[4, 8, 15, 16, 23, 30, 1];

fn sampling(seed: u64) -> GenerationConfig {
    GenerationConfig {
        decoding: Decoding::Sampling { temperature: 1.0, top_k: Some(20), top_p: Some(0.95) },
        seed,
        max_new_tokens: 20,
        ..GenerationConfig::default()
    }
}

fn reply(text: &str, config: GenerationConfig) -> Result<Vec<u32>> {
    let model = model()?;
    let encoded = model.encode(text)?;
    let mut generation = model.generate(&encoded, config)?;
    generation.by_ref().collect::<Result<Vec<_>>>()?;
    Ok(generation.ids().to_vec())
}

#[test]
fn every_attention_row_sums_to_one() -> Result<()> {
    let analysis = model()?.analyze("so hello, hello!")?;
    assert_eq!((analysis.attention.len(), analysis.attention[0].len()), (6, 4));
    for row in analysis.attention.iter().flatten() {
        assert_eq!(row.len(), analysis.tokens.len());
        assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-5);
    }
    Ok(())
}

#[test]
fn padding_changes_neither_levels_nor_logits() -> Result<()> {
    let model = model()?;
    let targets: &[u32] = &[0, 7, 9];
    let both = ids(&[SHORT, LONG])?;
    let both_mask = mask(&[SHORT, LONG])?;
    let padded = model.t5().encode(&both, &both_mask)?;
    let padded_output = model.block().forward(&padded, &both_mask, 0.5)?;
    let padded_logits = model.t5().decode(&ids(&[targets, targets])?, &padded, &both_mask)?.logits;

    let alone = model.t5().encode(&ids(&[SHORT])?, &mask(&[SHORT])?)?;
    let alone_output = model.block().forward(&alone, &mask(&[SHORT])?, 0.5)?;
    let alone_logits = model.t5().decode(&ids(&[targets])?, &alone, &mask(&[SHORT])?)?.logits;
    assert_close("hidden states", &padded.narrow(0, 0, 1)?.narrow(1, 0, SHORT.len())?, &alone, 1e-5)?;
    assert_close("levels", &padded_output.hormone_levels.narrow(0, 0, 1)?, &alone_output.hormone_levels, 1e-5)?;
    assert_close("logits", &padded_logits.narrow(0, 0, 1)?, &alone_logits, 1e-4)?;
    let unseen = padded_output.attention_weights.narrow(0, 0, 1)?.narrow(3, SHORT.len(), LONG.len() - SHORT.len())?;
    assert_eq!(unseen.max_all()?.to_scalar::<f32>()?, 0.0);
    Ok(())
}

#[test]
fn cached_decoding_equals_teacher_forcing() -> Result<()> {
    let model = model()?;
    let (source, attention_mask) = (ids(&[SHORT, LONG])?, mask(&[SHORT, LONG])?);
    let hidden = model.t5().encode(&source, &attention_mask)?;
    let targets: Vec<u32> = (0..36).map(|place| (place * 7) % 40).collect();
    let whole = model.t5().decode(&ids(&[&targets, &targets])?, &hidden, &attention_mask)?;
    let mut cache = model.t5().start_decoding(&hidden, &attention_mask)?;
    for (place, id) in targets.iter().enumerate() {
        let step = model.t5().decode_step(&Tensor::new(&[*id, *id], &Device::Cpu)?, &mut cache)?;
        assert_close("logits", &step.logits, &whole.logits.narrow(1, place, 1)?, 1e-4)?;
        for (step, whole) in step.cross_attention.iter().zip(&whole.cross_attention) {
            assert_close("cross-attention", step, &whole.narrow(2, place, 1)?, 1e-5)?;
        }
    }
    Ok(())
}

#[test]
fn selecting_cache_rows_equals_decoding_those_rows() -> Result<()> {
    let model = model()?;
    let (source, attention_mask) = (ids(&[SHORT, LONG])?, mask(&[SHORT, LONG])?);
    let mut cache = model.t5().start_decoding(&model.t5().encode(&source, &attention_mask)?, &attention_mask)?;
    model.t5().decode_step(&Tensor::new(&[3u32, 4], &Device::Cpu)?, &mut cache)?;
    let mut swapped = cache.select(&Tensor::new(&[1u32, 0, 1], &Device::Cpu)?)?;
    let plain = model.t5().decode_step(&Tensor::new(&[5u32, 6], &Device::Cpu)?, &mut cache)?.logits;
    let chosen = model.t5().decode_step(&Tensor::new(&[6u32, 5, 6], &Device::Cpu)?, &mut swapped)?.logits;
    assert_close("logits", &chosen, &plain.index_select(&Tensor::new(&[1u32, 0, 1], &Device::Cpu)?, 0)?, 1e-5)
}

#[test]
fn replies_side_by_side_equal_the_same_replies_alone() -> Result<()> {
    let model = model()?;
    let encoded = model.encode("so hello")?;
    let length = |new_tokens| GenerationConfig { max_new_tokens: new_tokens, min_new_tokens: new_tokens, ..GenerationConfig::default() };
    let configs = [
        GenerationConfig { alpha: Some(0.0), ..length(5) },
        GenerationConfig { decoding: Decoding::Beams { num_beams: 3, length_penalty: 1.0 }, ..length(7) },
        GenerationConfig { cross_attention: true, ..sampling(3) },
    ];
    let mut together: Vec<_> = configs.iter().map(|config| model.generate(&encoded, config.clone())).collect::<Result<_>>()?;
    let mut tokens = vec![Vec::new(); configs.len()];
    let mut running = configs.len();
    while running > 0 {
        running = 0;
        let steps = hormone_t5::Generation::advance_all(&mut together.iter_mut().collect::<Vec<_>>())?;
        for (tokens, step) in tokens.iter_mut().zip(steps) {
            running += usize::from(!matches!(step, Progress::Finished(_)));
            if let Progress::Token(token) = step {
                tokens.push(token);
            }
        }
    }
    for (config, tokens) in configs.into_iter().zip(tokens) {
        assert_eq!(tokens, model.generate(&encoded, config)?.collect::<Result<Vec<_>>>()?);
    }
    Ok(())
}

#[test]
fn zero_alpha_leaves_hidden_states_unchanged() -> Result<()> {
    let model = model()?;
    let encoded = model.encode("hello")?;
    let embedding = model.block().embed(&levels_tensor(&[Tone::Rude.levels()])?)?;
    let same = model.block().modulate(encoded.hidden_states(), &embedding, &Alpha::Fixed(0.0))?;
    let bits =
        |tensor: &Tensor| -> Result<Vec<u32>> { Ok(tensor.flatten_all()?.to_vec1::<f32>()?.into_iter().map(f32::to_bits).collect()) };
    assert_eq!(bits(&same)?, bits(encoded.hidden_states())?);
    Ok(())
}

#[test]
fn zero_alpha_replies_like_the_plain_t5_whatever_the_levels() -> Result<()> {
    let model = model()?;
    let encoded = model.encode("so the hello")?;
    let length = encoded.analysis().tokens.len();
    let attention_mask = Tensor::ones((1, length), DType::F32, &Device::Cpu)?;
    let mut cache = model.t5().start_decoding(encoded.hidden_states(), &attention_mask)?;
    let mut plain: Vec<u32> = vec![0];
    while plain.len() <= 12 {
        let logits = model.t5().decode_step(&Tensor::new(&[plain[plain.len() - 1]], &Device::Cpu)?, &mut cache)?.logits;
        let mut logits: Vec<f32> = logits.flatten_all()?.to_vec1()?;
        logits[1] = f32::NEG_INFINITY;
        plain.push(logits.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(id, _)| id as u32));
    }
    for levels in [[None; 6], [Some(1.0); 6]] {
        let config = GenerationConfig { alpha: Some(0.0), levels, min_new_tokens: 12, max_new_tokens: 12, ..GenerationConfig::default() };
        assert_eq!(reply("so the hello", config)?, plain[1..]);
    }
    Ok(())
}

#[test]
fn alpha_and_levels_change_what_the_decoder_sees() -> Result<()> {
    let model = model()?;
    let encoded = model.encode("hello")?;
    let modulated = |levels: HormoneLevels, alpha: f64| {
        model.block().modulate(encoded.hidden_states(), &model.block().embed(&levels_tensor(&[levels])?)?, &Alpha::Fixed(alpha))
    };
    let difference = |a: &Tensor, b: &Tensor| -> Result<f32> { Ok((a - b)?.abs()?.max_all()?.to_scalar()?) };
    let sad = modulated(Tone::Sad.levels(), 0.3)?;
    assert!(difference(&sad, &modulated(Tone::Sad.levels(), 0.5)?)? > 1e-3);
    assert!(difference(&sad, &modulated(Tone::Excited.levels(), 0.3)?)? > 1e-3);
    Ok(())
}

#[test]
fn levels_are_overridden_one_by_one() -> Result<()> {
    let model = model()?;
    let encoded = model.encode("hello")?;
    let mut levels = [None; 6];
    levels[2] = Some(0.9);
    let generation = model.generate(&encoded, GenerationConfig { levels, ..GenerationConfig::default() })?;
    let expected = HormoneLevels { cortisol: 0.9, ..encoded.analysis().levels };
    assert_eq!(generation.levels(), expected);
    Ok(())
}

#[test]
fn same_seed_gives_the_same_text_and_another_seed_another() -> Result<()> {
    assert_eq!(reply("hello", sampling(3))?, reply("hello", sampling(3))?);
    let replies: std::collections::HashSet<Vec<u32>> = (0..5).map(|seed| reply("hello", sampling(seed))).collect::<Result<_>>()?;
    assert!(replies.len() > 1);
    Ok(())
}

#[test]
fn the_same_prompt_twice_gives_the_same_reply() -> Result<()> {
    let model = model()?;
    let encoded = model.encode("hello")?;
    let config = GenerationConfig { max_new_tokens: 12, min_new_tokens: 12, ..GenerationConfig::default() };
    let collect = || model.generate(&encoded, config.clone())?.map(|token| Ok(token?.id)).collect::<Result<Vec<u32>>>();
    assert_eq!(collect()?, collect()?);
    Ok(())
}

#[test]
fn dropping_a_generation_cancels_it_and_leaves_the_model_usable() -> Result<()> {
    let model = model()?;
    let encoded = model.encode("hello")?;
    let config = GenerationConfig { max_new_tokens: 400, min_new_tokens: 400, ..GenerationConfig::default() };
    let mut generation = model.generate(&encoded, config.clone())?;
    let first = generation.next().transpose()?.map(|token| token.id);
    drop(generation);
    assert_eq!(model.generate(&encoded, config)?.next().transpose()?.map(|token| token.id), first);
    Ok(())
}

#[test]
fn one_beam_with_no_penalty_equals_greedy_where_both_run_to_the_end() -> Result<()> {
    let greedy = GenerationConfig { max_new_tokens: 10, min_new_tokens: 10, ..GenerationConfig::default() };
    let beam = GenerationConfig { decoding: Decoding::Beams { num_beams: 1, length_penalty: 1.0 }, ..greedy.clone() };
    assert_eq!(reply("so hello", greedy)?, reply("so hello", beam)?);
    Ok(())
}

#[test]
fn beams_search_step_by_step_and_then_give_tokens() -> Result<()> {
    let model = model()?;
    let encoded = model.encode("hello")?;
    let config = GenerationConfig {
        decoding: Decoding::Beams { num_beams: 3, length_penalty: 1.0 },
        max_new_tokens: 6,
        min_new_tokens: 6,
        ..GenerationConfig::default()
    };
    let mut generation = model.generate(&encoded, config)?;
    assert_eq!(generation.advance()?, Progress::Searching);
    let tokens = generation.by_ref().count();
    assert_eq!((tokens, generation.ids().len()), (6, 6));
    Ok(())
}

#[test]
fn tokens_carry_probabilities_alternatives_and_cross_attention() -> Result<()> {
    let model = model()?;
    let encoded = model.encode("hello")?;
    let config = GenerationConfig { cross_attention: true, max_new_tokens: 4, min_new_tokens: 4, ..GenerationConfig::default() };
    for token in model.generate(&encoded, config)? {
        let token = token?;
        assert_eq!(token.alternatives.len(), 5);
        assert!(token.alternatives.windows(2).all(|pair| pair[0].probability >= pair[1].probability));
        let attention = token.cross_attention.unwrap_or_default();
        assert_eq!(attention.len(), encoded.analysis().tokens.len());
        assert!((attention.iter().sum::<f32>() - 1.0).abs() < 1e-4);
    }
    Ok(())
}

#[test]
fn empty_and_white_text_is_a_clear_error() -> Result<()> {
    let model = model()?;
    for text in ["", "   ", "\n\t"] {
        assert!(matches!(model.analyze(text), Err(Error::EmptyText)));
    }
    Ok(())
}

#[test]
fn long_text_is_cut_and_says_so() -> Result<()> {
    let model = model()?;
    let long = model.analyze(&"hello so ".repeat(200))?;
    assert_eq!((long.truncated, long.tokens.len()), (true, 24));
    assert_eq!(long.tokens.last().map(|token| token.id), Some(1));
    assert!(!model.analyze("hello")?.truncated);
    Ok(())
}

#[test]
fn unknown_characters_are_reported_with_their_place() -> Result<()> {
    let text = "so {hello} 😭";
    let unknown = model()?.analyze(text)?.unknown;
    assert!(unknown.iter().any(|mark| mark.start == 3 && mark.text.starts_with('{')), "{unknown:?}");
    assert!(unknown.iter().any(|mark| text[mark.start..].starts_with('😭') || mark.text.contains('😭')), "{unknown:?}");
    Ok(())
}

#[test]
fn token_places_and_words_point_into_the_text() -> Result<()> {
    let text = "so  hello !";
    let analysis = model()?.analyze(text)?;
    let words: Vec<&str> = text.split_whitespace().collect();
    for token in &analysis.tokens {
        let Some(word) = token.word else { continue };
        assert!(words[word].contains(&text[token.start..token.end]), "{token:?}");
    }
    assert_eq!(analysis.tokens.last().and_then(|token| token.word), None);
    Ok(())
}

#[test]
fn a_typed_end_mark_is_text_and_not_the_end_token() -> Result<()> {
    let analysis = model()?.analyze("so </s> hello")?;
    assert_eq!(analysis.tokens.iter().filter(|token| token.id == 1).count(), 1);
    Ok(())
}

#[test]
fn settings_out_of_range_are_named() -> Result<()> {
    let model = model()?;
    let encoded = model.encode("hello")?;
    let sampling = |temperature, top_k, top_p| GenerationConfig {
        decoding: Decoding::Sampling { temperature, top_k, top_p },
        ..GenerationConfig::default()
    };
    let wrong = [
        GenerationConfig { alpha: Some(-0.1), ..GenerationConfig::default() },
        GenerationConfig { levels: [Some(1.5), None, None, None, None, None], ..GenerationConfig::default() },
        GenerationConfig { max_new_tokens: 0, ..GenerationConfig::default() },
        GenerationConfig { repetition_penalty: 0.0, ..GenerationConfig::default() },
        GenerationConfig { decoding: Decoding::Beams { num_beams: 0, length_penalty: 1.0 }, ..GenerationConfig::default() },
        sampling(0.0, None, None),
        sampling(f64::NAN, None, None),
        sampling(1.0, Some(0), None),
        sampling(1.0, None, Some(0.0)),
    ];
    for config in wrong {
        assert!(matches!(model.generate(&encoded, config.clone()), Err(Error::Setting { .. })), "{config:?}");
    }
    assert!(matches!(model.attend(&encoded, 0.0), Err(Error::Setting { .. })));
    Ok(())
}

#[test]
fn another_attention_temperature_reads_again_without_the_encoder() -> Result<()> {
    let model = model()?;
    let encoded = model.encode("hello so")?;
    let flat = model.attend(&encoded, 50.0)?;
    let spread = |analysis: &hormone_t5::Analysis| analysis.attention[0][0].iter().copied().fold(0.0, f32::max);
    assert!(spread(flat.analysis()) <= spread(encoded.analysis()));
    assert_eq!(model.attend(&encoded, 0.5)?.analysis(), encoded.analysis());
    Ok(())
}
