//! Comparisons with Hugging Face's T5 and with a PyTorch block, on the fixtures beside this folder; run natively and in the browser.
#![allow(dead_code, missing_docs, unreachable_pub)]

use std::collections::HashMap;

use candle_core::{DType, Device, Tensor};
use hormone_t5::generation::{BeamSearch, Hypothesis, ScoreRules, candidates};
use hormone_t5::hormone_block::{Alpha, HormoneBlock};
use hormone_t5::t5::relative_position_bucket;
use hormone_t5::{GenerationConfig, Result, T5, T5Config, Weights};
use serde_json::Value;

use super::assert_close;

pub struct Fixture {
    pub config: &'static [u8],
    pub weights: &'static [u8],
    pub expected: &'static [u8],
    pub facts: &'static str,
}

macro_rules! fixture {
    ($folder:literal) => {
        Fixture {
            config: include_bytes!(concat!("../fixtures/", $folder, "/config.json")),
            weights: include_bytes!(concat!("../fixtures/", $folder, "/model.safetensors")),
            expected: include_bytes!(concat!("../fixtures/", $folder, "/expected.safetensors")),
            facts: include_str!(concat!("../fixtures/", $folder, "/expected.json")),
        }
    };
}

pub const V1_0: Fixture = fixture!("t5-v1_0");
pub const V1_1: Fixture = fixture!("t5-v1_1");

const BLOCK_WEIGHTS: &[u8] = include_bytes!("../fixtures/hormone-block/model.safetensors");
const BLOCK_EXPECTED: &[u8] = include_bytes!("../fixtures/hormone-block/expected.safetensors");
const BLOCK_FACTS: &str = include_str!("../fixtures/hormone-block/expected.json");
const BUCKETS: &str = include_str!("../fixtures/relative-position-buckets.json");
const PROCESSORS: &str = include_str!("../fixtures/logits-processors.json");

pub const HIDDEN_TOLERANCE: f32 = 1e-4;
pub const LOGITS_TOLERANCE: f32 = 1e-3;
const BLOCK_TOLERANCE: f32 = 1e-4;

pub struct Loaded {
    pub t5: T5,
    pub config: T5Config,
    pub expected: HashMap<String, Tensor>,
    pub facts: Value,
}

impl Fixture {
    pub fn load(&self) -> Result<Loaded> {
        let config = T5Config::from_json(self.config)?;
        let t5 = T5::load(&Weights::from_bytes(self.weights.to_vec())?, &config)?;
        Ok(Loaded { t5, config, expected: tensors(self.expected)?, facts: parsed(self.facts) })
    }
}

pub fn tensors(bytes: &[u8]) -> Result<HashMap<String, Tensor>> {
    Ok(candle_core::safetensors::load_buffer(bytes, &Device::Cpu)?)
}

pub fn parsed(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or(Value::Null)
}

pub fn id_row(value: &Value) -> Vec<u32> {
    value.as_array().into_iter().flatten().filter_map(Value::as_u64).map(|id| id as u32).collect()
}

pub fn id_rows(value: &Value) -> Result<Tensor> {
    let rows: Vec<Vec<u32>> = value.as_array().into_iter().flatten().map(id_row).collect();
    Ok(Tensor::new(rows, &Device::Cpu)?)
}

fn one_row(ids: &[u32]) -> Result<Tensor> {
    Ok(Tensor::new(ids, &Device::Cpu)?.unsqueeze(0)?)
}

fn all_seen(ids: &Tensor) -> Result<Tensor> {
    Ok(Tensor::ones(ids.shape(), DType::F32, &Device::Cpu)?)
}

/// Hidden states, of both encoders, and 40 positions' logits at source lengths 1, 25 and 140.
pub fn hidden_states_and_logits(fixture: &Fixture) -> Result<()> {
    let Loaded { t5, expected, facts, .. } = fixture.load()?;
    let targets = one_row(&id_row(&facts["decoder_input_ids"]))?;
    assert_eq!(targets.dims(), [1, 40]);
    for length in ["1", "25", "140"] {
        let source = one_row(&id_row(&facts["sources"][length]))?;
        let mask = all_seen(&source)?;
        let hidden = t5.encode(&source, &mask)?;
        let name = format!("encoder_hidden_states.{length}");
        assert_close(&name, &hidden, &expected[&name], HIDDEN_TOLERANCE)?;
        assert_close(&name, &t5.encode_text(&id_row(&facts["sources"][length]))?, &expected[&name], HIDDEN_TOLERANCE)?;
        let name = format!("logits.{length}");
        assert_close(&name, &t5.decode(&targets, &hidden, &mask)?.logits, &expected[&name], LOGITS_TOLERANCE)?;
    }
    Ok(())
}

/// A batch of sources of different lengths.
pub fn padded_batch(fixture: &Fixture) -> Result<()> {
    let Loaded { t5, expected, facts, .. } = fixture.load()?;
    let batch = &facts["batch"];
    let (source, mask) = (id_rows(&batch["input_ids"])?, id_rows(&batch["attention_mask"])?.to_dtype(DType::F32)?);
    let hidden = t5.encode(&source, &mask)?;
    let seen = hidden.broadcast_mul(&mask.unsqueeze(2)?)?;
    assert_close("batch.encoder_hidden_states", &seen, &expected["batch.encoder_hidden_states"], HIDDEN_TOLERANCE)?;
    let logits = t5.decode(&id_rows(&batch["decoder_input_ids"])?, &hidden, &mask)?.logits;
    assert_close("batch.logits", &logits, &expected["batch.logits"], LOGITS_TOLERANCE)
}

pub fn cross_attention(fixture: &Fixture) -> Result<()> {
    let Loaded { t5, expected, facts, .. } = fixture.load()?;
    let facts_here = &facts["cross_attention"];
    let source = one_row(&id_row(&facts["sources"][facts_here["source"].as_str().unwrap_or_default()]))?;
    let mask = all_seen(&source)?;
    let output = t5.decode(&one_row(&id_row(&facts_here["decoder_input_ids"]))?, &t5.encode(&source, &mask)?, &mask)?;
    assert!(!output.cross_attention.is_empty());
    for (layer, weights) in output.cross_attention.iter().enumerate() {
        let name = format!("cross_attention.{layer}");
        assert_close(&name, weights, &expected[&name], 1e-5)?;
    }
    Ok(())
}

/// Every run of `generate` in the fixture: greedy, with rules, and beams.
pub fn generation(fixture: &Fixture) -> Result<()> {
    let Loaded { t5, config, facts, .. } = fixture.load()?;
    let runs = facts["generation"].as_array().cloned().unwrap_or_default();
    assert!(runs.len() >= 15, "only {} runs", runs.len());
    for run in &runs {
        let source = run["source"].as_str().unwrap_or_default();
        let name = format!("{} of source {source}", run["name"]);
        let settings = &run["settings"];
        let source = one_row(&id_row(&facts["sources"][source]))?;
        let number = |key: &str, default: f64| settings[key].as_f64().unwrap_or(default);
        let rules = GenerationConfig {
            no_repeat_ngram_size: number("no_repeat_ngram_size", 0.0) as usize,
            repetition_penalty: number("repetition_penalty", 1.0) as f32,
            min_new_tokens: number("min_new_tokens", 0.0) as usize,
            max_new_tokens: number("max_new_tokens", 40.0) as usize,
            ..GenerationConfig::default()
        };
        let expected: Vec<Vec<u32>> = run["sequences"].as_array().into_iter().flatten().map(id_row).collect();
        let num_beams = number("num_beams", 1.0) as usize;
        if num_beams == 1 {
            assert_eq!(greedy(&t5, &config, &source, &rules)?, expected[0], "{name}");
            continue;
        }
        let found = beams(&t5, &config, &source, &rules, num_beams, number("length_penalty", 1.0) as f32)?;
        let ids: Vec<Vec<u32>> = found.iter().map(|hypothesis| hypothesis.ids.clone()).collect();
        assert_eq!(ids, expected, "{name}");
        for (hypothesis, score) in found.iter().zip(run["scores"].as_array().into_iter().flatten()) {
            assert!(
                (f64::from(hypothesis.score) - score.as_f64().unwrap_or(f64::NAN)).abs() < 1e-3,
                "{name}: score {} against {score}",
                hypothesis.score
            );
        }
    }
    Ok(())
}

fn greedy(t5: &T5, config: &T5Config, source: &Tensor, rules: &GenerationConfig) -> Result<Vec<u32>> {
    let mask = all_seen(source)?;
    let mut cache = t5.start_decoding(&t5.encode(source, &mask)?, &mask)?;
    let score_rules = ScoreRules::new(rules, config.eos_token_id);
    let mut ids = vec![config.decoder_start_token_id];
    while ids.len() <= rules.max_new_tokens {
        let mut scores: Vec<f32> =
            t5.decode_step(&Tensor::new(&[ids[ids.len() - 1]], &Device::Cpu)?, &mut cache)?.logits.flatten_all()?.to_vec1()?;
        score_rules.apply(&mut scores, &ids);
        let best = scores.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(id, _)| id as u32);
        ids.push(best);
        if best == config.eos_token_id {
            break;
        }
    }
    Ok(ids[1..].to_vec())
}

fn beams(
    t5: &T5,
    config: &T5Config,
    source: &Tensor,
    rules: &GenerationConfig,
    num_beams: usize,
    length_penalty: f32,
) -> Result<Vec<Hypothesis<()>>> {
    let mask = all_seen(source)?;
    let mut cache = t5.start_decoding(&t5.encode(source, &mask)?, &mask)?;
    let (start, eos) = (config.decoder_start_token_id, config.eos_token_id);
    let mut search = BeamSearch::new(num_beams, length_penalty, rules.max_new_tokens, start, eos, ScoreRules::new(rules, eos));
    let mut ids = vec![start];
    loop {
        let logits = t5.decode_step(&Tensor::new(ids.as_slice(), &Device::Cpu)?, &mut cache)?.logits;
        match search.advance(&logits.squeeze(1)?.to_vec2()?, |_, _| ()) {
            Some(step) => {
                cache = cache.select(&Tensor::new(step.parents.as_slice(), &Device::Cpu)?)?;
                ids = step.ids;
            }
            None => return Ok(search.hypotheses().to_vec()),
        }
    }
}

pub fn position_buckets() {
    let facts = parsed(BUCKETS);
    let first = facts["first_relative_position"].as_i64().unwrap_or_default();
    for (name, bidirectional) in [("bidirectional", true), ("one_sided", false)] {
        let expected = id_row(&facts[name]);
        assert_eq!(expected.len(), 401);
        for (place, expected) in expected.iter().enumerate() {
            let distance = first + place as i64;
            assert_eq!(relative_position_bucket(distance, bidirectional, 32, 128), *expected, "{name} {distance}");
        }
    }
}

/// Penalties and bans on scores, and which tokens sampling may choose.
pub fn logits_processors() {
    let facts = parsed(PROCESSORS);
    let history = id_row(&facts["history"]);
    let cases = facts["cases"].as_array().cloned().unwrap_or_default();
    assert!(cases.len() >= 15);
    for case in &cases {
        let mut scores: Vec<f32> =
            case["logits"].as_array().into_iter().flatten().filter_map(Value::as_f64).map(|score| score as f32).collect();
        let setting = |name: &str| case["processors"].as_array().into_iter().flatten().find_map(|processor| processor[name].as_f64());
        let rules = GenerationConfig {
            repetition_penalty: setting("repetition_penalty").unwrap_or(1.0) as f32,
            no_repeat_ngram_size: setting("no_repeat_ngram_size").unwrap_or(0.0) as usize,
            ..GenerationConfig::default()
        };
        ScoreRules::new(&rules, 1).apply(&mut scores, &history);
        let temperature = setting("temperature").unwrap_or(1.0);
        let mut kept: Vec<u32> = candidates(&scores, temperature, setting("top_k").map(|k| k as usize), setting("top_p"))
            .into_iter()
            .map(|(id, _)| id as u32)
            .collect();
        kept.sort_unstable();
        assert_eq!(kept, id_row(&case["kept"]), "{}", case["processors"]);
        for (id, expected) in case["scores"].as_array().into_iter().flatten().enumerate() {
            if let Some(expected) = expected.as_f64() {
                assert!((f64::from(scores[id]) / temperature - expected).abs() < 1e-4, "{} token {id}", case["processors"]);
            }
        }
    }
}

/// Attention, levels, embedding and modulated states at two attention temperatures, on a padded batch.
pub fn hormone_block() -> Result<()> {
    let block = HormoneBlock::load(&Weights::from_bytes(BLOCK_WEIGHTS.to_vec())?.at("hormone_block"), 32)?;
    let (expected, facts) = (tensors(BLOCK_EXPECTED)?, parsed(BLOCK_FACTS));
    let mask = id_rows(&facts["attention_mask"])?.to_dtype(DType::F32)?;
    let hidden = &expected["hidden_states"];
    for temperature in [0.5, 2.0] {
        let name = |part: &str| format!("tau_{temperature:.1}.{part}");
        let output = block.forward(hidden, &mask, temperature)?;
        let embedding = block.embed(&output.hormone_levels)?;
        let modulated = block.modulate(hidden, &embedding, &Alpha::Learned)?;
        let parts = [
            ("attention_weights", &output.attention_weights),
            ("levels", &output.hormone_levels),
            ("embedding", &embedding),
            ("modulated", &modulated),
        ];
        for (part, actual) in parts {
            assert_close(&name(part), actual, &expected[&name(part)], BLOCK_TOLERANCE)?;
        }
    }
    Ok(())
}

/// The queries of a fresh block.
pub fn initial_queries() -> Result<()> {
    let expected = tensors(BLOCK_EXPECTED)?;
    for width in [32, 512] {
        let block = HormoneBlock::load(&Weights::trainable(Default::default(), 1), width)?;
        let queries = block.queries()?.reshape((6, 4, width / 4))?;
        let expected = &expected[&format!("initial_queries.{width}")];
        assert_close("initial queries", &queries.narrow(1, 0, expected.dim(1)?)?, expected, 0.0)?;
    }
    Ok(())
}
