use candle_core::Device;
use hormone_t5::{Hormone, HormoneLevels, Tone};
use serde_json::Value;

use super::*;
use crate::mixture::Kind;

fn fixture(path: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(path)
}

fn json(path: &str) -> Result<Value> {
    Ok(serde_json::from_slice(&std::fs::read(fixture(path))?)?)
}

/// The tiny T5 and the block of the fixtures, without dropout.
fn fixture_trainer(threads: usize) -> Result<Trainer> {
    let config = T5Config { dropout_rate: 0.0, ..T5Config::from_json(&std::fs::read(fixture("t5-v1_0/config.json"))?)? };
    let hormone_config = HormoneConfig { dropout_rate: 0.0, ..HormoneConfig::default() };
    let mut variables = BTreeMap::new();
    for (file, prefix) in [("t5-v1_0/model.safetensors", "t5."), ("hormone-block/model.safetensors", "")] {
        for (name, tensor) in candle_core::safetensors::load(fixture(file), &Device::Cpu)? {
            variables.insert(format!("{prefix}{name}"), Var::from_tensor(&tensor.to_dtype(candle_core::DType::F32)?)?);
        }
    }
    Trainer::new(config, hormone_config, variables, &options(threads))
}

fn options(threads: usize) -> TrainerOptions {
    TrainerOptions {
        objective: Objective::PAPER,
        optimizer: OptimizerSettings { weight_decay: 0.0, max_norm: 1e9, muon: false, embedding_rate: 1.0 },
        threads,
        seed: 1,
        frozen: Vec::new(),
        hormones: Hormone::ALL.len(),
    }
}

fn ids(row: &Value) -> Vec<u32> {
    row.as_array().into_iter().flatten().filter_map(Value::as_u64).map(|id| id as u32).collect()
}

/// The fixtures' batch, each row without its padding.
fn fixture_examples(facts: &Value) -> Vec<EncodedExample> {
    let rows = |name: &str| facts[name].as_array().cloned().unwrap_or_default();
    let rows = rows("input_ids").into_iter().zip(rows("attention_mask")).zip(rows("labels")).zip(rows("target_levels"));
    rows.map(|(((source, mask), labels), levels)| {
        let seen = ids(&mask).iter().sum::<u32>() as usize;
        let levels: Vec<f32> = levels.as_array().into_iter().flatten().filter_map(Value::as_f64).map(|level| level as f32).collect();
        EncodedExample {
            source: ids(&source)[..seen].to_vec(),
            weights: vec![1.0; ids(&labels).len()],
            target: ids(&labels), // -100 is no id and falls away
            target_levels: <[f32; 6]>::try_from(levels).ok().map(HormoneLevels::from),
            target_tones: None,
            reply_levels: None,
            alpha: None,
            kind: Kind::Dialogue,
        }
    })
    .collect()
}

#[test]
fn losses_and_every_gradient_equal_pytorchs() -> Result<()> {
    let facts = json("training-step/expected.json")?;
    let expected = candle_core::safetensors::load(fixture("training-step/gradients.safetensors"), &Device::Cpu)?;
    for threads in [1, 2] {
        let trainer = fixture_trainer(threads)?;
        let (report, gradients) = trainer.gradients(&fixture_examples(&facts))?;
        let losses = &facts["losses"];
        let pairs = [
            ("seq", report.sequence),
            ("mse", report.level_mse),
            ("margin", report.margin),
            ("diversity", report.diversity),
            ("total", report.total),
        ];
        for (name, value) in pairs {
            let expected = losses[name].as_f64().unwrap_or(f64::NAN);
            assert!(
                (f64::from(value) - expected).abs() < 1e-3 * expected.abs().max(1.0),
                "{name} with {threads} threads: {value}, expected {expected}"
            );
        }
        assert_eq!(gradients.len(), expected.len());
        for (name, gradient) in &gradients {
            let expected: Vec<f32> = expected[name].to_dtype(candle_core::DType::F32)?.flatten_all()?.to_vec1()?;
            let largest = expected.iter().fold(0.0f32, |largest, value| largest.max(value.abs()));
            let difference = gradient.iter().zip(&expected).fold(0.0f32, |worst, (a, b)| worst.max((a - b).abs()));
            assert!(
                difference < 2e-3 * largest.max(0.01),
                "{name} with {threads} threads: differs by {difference}, largest value {largest}"
            );
        }
    }
    Ok(())
}

#[test]
fn one_batch_can_be_overfitted() -> Result<()> {
    let mut trainer = fixture_trainer(2)?;
    let examples = fixture_examples(&json("training-step/expected.json")?);
    let first = trainer.step(&examples, 3e-3)?;
    let mut last = first;
    for _ in 0..300 {
        last = trainer.step(&examples, 3e-3)?;
    }
    assert!(last.sequence < 0.1 * first.sequence && last.level_mse < 0.01, "{first:?} {last:?}");
    Ok(())
}

fn example(id: u32, tone: Tone) -> EncodedExample {
    EncodedExample {
        source: vec![id, 1],
        target: vec![id + 3, 1],
        weights: vec![1.0; 2],
        target_levels: Some(tone.levels()),
        target_tones: None,
        reply_levels: None,
        alpha: None,
        kind: Kind::Dialogue,
    }
}

#[test]
fn the_same_seed_gives_the_same_run() -> Result<()> {
    let config = T5Config::from_json(br#"{"vocab_size":20,"d_model":32,"d_kv":8,"d_ff":32,"num_layers":1,"num_heads":2}"#)?;
    let run = || -> Result<LossReport> {
        let mut trainer = Trainer::new(config.clone(), HormoneConfig::default(), BTreeMap::new(), &options(2))?;
        let examples = [example(4, Tone::Sad), example(9, Tone::Excited)];
        trainer.step(&examples, 1e-3)?;
        trainer.step(&examples, 1e-3)
    };
    assert_eq!(run()?, run()?);
    Ok(())
}

#[test]
fn a_resumed_run_equals_one_that_never_stopped_dropout_included() -> Result<()> {
    let config =
        T5Config::from_json(br#"{"vocab_size":20,"d_model":32,"d_kv":8,"d_ff":32,"num_layers":1,"num_heads":2,"dropout_rate":0.3}"#)?;
    let muon = TrainerOptions { optimizer: OptimizerSettings { muon: true, ..options(2).optimizer }, ..options(2) };
    let examples: Vec<EncodedExample> = (4..12).map(|id| example(id, Tone::ALL[id as usize % 5])).collect();
    let mut whole = Trainer::new(config.clone(), HormoneConfig::default(), BTreeMap::new(), &muon)?;
    whole.step(&examples, 1e-2)?;
    whole.step(&examples, 1e-2)?;
    let folder = tempfile::tempdir()?;
    let folder = crate::checkpoint::ModelFolder::new(folder.path());
    let state = crate::checkpoint::RunState { stage: "converse".into(), step: 2, seconds: 0.0, best: None, gate: None, taught: None };
    folder.save_run(&whole.variables, &whole.optimizer, &state)?;
    let expected = whole.step(&examples, 1e-2)?;
    let mut resumed = Trainer::new(config, HormoneConfig::default(), folder.variables()?, &muon)?;
    let (optimizer, state) = folder.load_run()?;
    resumed.optimizer.restore(&optimizer, state.step)?;
    assert_eq!(resumed.step(&examples, 1e-2)?, expected);
    for (name, variable) in &whole.variables {
        let values = |variable: &Var| variable.flatten_all().and_then(|flat| flat.to_vec1::<f32>());
        assert_eq!(values(&resumed.variables[name])?, values(variable)?, "{name}");
    }
    Ok(())
}

#[test]
fn a_gradient_that_is_not_finite_moves_no_weight() -> Result<()> {
    let variables = BTreeMap::from([("a".to_string(), Var::new(&[1.0f32, 2.0], &Device::Cpu)?)]);
    let mut optimizer = Optimizer::new(options(1).optimizer);
    let norm = optimizer.step(&variables, &BTreeMap::from([("a".to_string(), vec![f32::NAN, 1.0])]), 0.1, 1)?;
    assert!(norm.is_nan() && optimizer.steps() == 0);
    assert_eq!(variables["a"].to_vec1::<f32>()?, [1.0, 2.0]);
    Ok(())
}

#[test]
fn frozen_weights_stay_as_they_are() -> Result<()> {
    let facts = json("training-step/expected.json")?;
    let base = fixture_trainer(1)?;
    let options = TrainerOptions { frozen: vec!["t5.encoder.block.0.".to_string()], ..options(1) };
    let mut trainer = Trainer::new(base.config.clone(), base.hormone_config.clone(), base.variables.clone(), &options)?;
    let value = |name: &str| -> Result<Vec<f32>> { Ok(base.variables[name].flatten_all()?.to_vec1()?) };
    let names = ["t5.encoder.block.0.layer.0.SelfAttention.q.weight", "t5.encoder.block.1.layer.0.SelfAttention.q.weight"];
    let before = names.map(value);
    trainer.step(&fixture_examples(&facts), 1e-2)?;
    let after = names.map(value);
    assert_eq!(before[0].as_ref().ok(), after[0].as_ref().ok());
    assert_ne!(before[1].as_ref().ok(), after[1].as_ref().ok());
    Ok(())
}

#[test]
fn what_is_frozen_changes_no_gradient_of_the_rest() -> Result<()> {
    let examples = fixture_examples(&json("training-step/expected.json")?);
    let base = fixture_trainer(1)?;
    let options = TrainerOptions { frozen: vec!["t5.".to_string()], ..options(1) };
    let trainer = Trainer::new(base.config.clone(), base.hormone_config.clone(), base.variables.clone(), &options)?;
    let ((_, all), (_, rest)) = (base.gradients(&examples)?, trainer.gradients(&examples)?);
    assert!(!rest.is_empty() && rest.keys().all(|name| name.starts_with("hormone_block.")));
    for (name, gradient) in rest {
        assert_eq!(gradient, all[&name], "{name}");
    }
    Ok(())
}
