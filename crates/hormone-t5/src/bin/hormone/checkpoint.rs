//! A model folder on disk: configuration, vocabulary, weights, and for a run also the optimizer and how far it came.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use candle_core::{Device, Tensor, Var};
use hormone_t5::manifest::ModelFiles;
use hormone_t5::{HormoneConfig, HormoneT5, T5Config};
use serde::{Deserialize, Serialize};

use crate::optimizer::Optimizer;

/// How far a run came.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct RunState {
    /// Which stage.
    pub(crate) stage: String,
    /// Steps done.
    pub(crate) step: u64,
    /// Seconds spent so far, over all sessions.
    pub(crate) seconds: f64,
    /// Best value of what early stopping watches, and the step it was seen at.
    pub(crate) best: Option<(f64, u64)>,
    /// What the last evaluation said of the conditional gain.
    #[serde(default)]
    pub(crate) gate: Option<Gate>,
    /// SHA-256 of the texts that a teacher has read, where there are any.
    #[serde(default)]
    pub(crate) taught: Option<String>,
}

/// The conditional gain and what it must be for the next stage.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct Gate {
    pub(crate) least: f64,
    pub(crate) measured: f64,
}

impl RunState {
    /// An error where the stage had to reach a conditional gain and has not.
    pub(crate) fn check_gate(&self) -> Result<()> {
        let Some(Gate { least, measured }) = self.gate else { return Ok(()) };
        ensure!(
            measured >= least,
            "the conditional gain of stage \"{}\" is {measured:.3} after {} steps, but at least {least} was expected: its replies \
             ignore what was said. Train it longer (a larger total_steps and --resume).",
            self.stage,
            self.step
        );
        Ok(())
    }
}

/// A model folder.
#[derive(Clone, Debug)]
pub(crate) struct ModelFolder {
    path: PathBuf,
}

impl ModelFolder {
    pub(crate) fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// An error where a run was saved here already: another one would write over it.
    pub(crate) fn check_free(&self) -> Result<()> {
        let holds_run = self.path.join("state.json").is_file();
        ensure!(!holds_run, "{} already holds a run: go on with --resume, or name another folder.", self.path.display());
        Ok(())
    }

    pub(crate) fn config(&self) -> Result<T5Config> {
        Ok(T5Config::from_json(&self.read("config.json")?)?)
    }

    pub(crate) fn hormone_config(&self) -> Result<HormoneConfig> {
        Ok(HormoneConfig::from_json(&self.read("hormone.json")?)?)
    }

    pub(crate) fn tokenizer(&self) -> Result<Vec<u8>> {
        self.read("tokenizer.json")
    }

    /// The weights as variables to train.
    pub(crate) fn variables(&self) -> Result<BTreeMap<String, Var>> {
        let tensors = load_tensors(&self.path.join("model.safetensors"))?;
        tensors.into_iter().map(|(name, tensor)| Ok((name, Var::from_tensor(&tensor.to_dtype(candle_core::DType::F32)?)?))).collect()
    }

    /// The whole model, from GGUF where there is one, else from safetensors.
    pub(crate) fn load(&self) -> Result<HormoneT5> {
        let weights = if self.path.join("model.gguf").is_file() { "model.gguf" } else { "model.safetensors" };
        let files = ModelFiles {
            config: self.read("config.json")?,
            hormone: self.read("hormone.json")?,
            tokenizer: self.tokenizer()?,
            weights: self.read(weights)?,
        };
        HormoneT5::load(files).with_context(|| format!("{} cannot be loaded", self.path.display()))
    }

    /// Writes what stays the same over a run.
    pub(crate) fn save_setup(&self, config: &T5Config, hormone_config: &HormoneConfig, tokenizer: &[u8]) -> Result<()> {
        fs::create_dir_all(&self.path).with_context(|| format!("cannot make the folder {}", self.path.display()))?;
        self.write("config.json", &serde_json::to_vec_pretty(config)?)?;
        self.write("hormone.json", &serde_json::to_vec_pretty(hormone_config)?)?;
        self.write("tokenizer.json", tokenizer)
    }

    /// Writes weights, optimizer and state. All are written beside the former ones before any is replaced, so that a crash leaves the former
    /// checkpoint or this one, but for the instant of the three renames.
    pub(crate) fn save_run(&self, variables: &BTreeMap<String, Var>, optimizer: &Optimizer, state: &RunState) -> Result<()> {
        let weights = variables.iter().map(|(name, variable)| (name.clone(), variable.as_detached_tensor())).collect();
        self.write_partial_tensors("model.safetensors", &weights)?;
        self.write_partial_tensors("optimizer.safetensors", &optimizer.state()?.into_iter().collect())?;
        self.write_partial("state.json", &serde_json::to_vec_pretty(state)?)?;
        ["model.safetensors", "optimizer.safetensors", "state.json"].iter().try_for_each(|name| self.replace(name))
    }

    /// The optimizer's state and how far the run came.
    pub(crate) fn load_run(&self) -> Result<(HashMap<String, Tensor>, RunState)> {
        Ok((load_tensors(&self.path.join("optimizer.safetensors"))?, self.state()?))
    }

    /// How far the run came.
    pub(crate) fn state(&self) -> Result<RunState> {
        serde_json::from_slice(&self.read("state.json")?).context("state.json is not what a run writes")
    }

    /// Writes a file whole or not at all.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.write_partial(name, bytes)?;
        self.replace(name)
    }

    fn write_partial(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let partial = self.partial(name);
        fs::write(&partial, bytes).with_context(|| format!("cannot write {}", partial.display()))
    }

    fn write_partial_tensors(&self, name: &str, tensors: &HashMap<String, Tensor>) -> Result<()> {
        let partial = self.partial(name);
        candle_core::safetensors::save(tensors, &partial).with_context(|| format!("cannot write {}", partial.display()))
    }

    fn replace(&self, name: &str) -> Result<()> {
        let path = self.path.join(name);
        fs::rename(self.partial(name), &path).with_context(|| format!("cannot write {}", path.display()))
    }

    fn partial(&self, name: &str) -> PathBuf {
        self.path.join(format!("{name}.partial"))
    }

    fn read(&self, name: &str) -> Result<Vec<u8>> {
        let path = self.path.join(name);
        fs::read(&path).with_context(|| format!("cannot read {}: a model folder with this file was expected", path.display()))
    }
}

fn load_tensors(path: &Path) -> Result<HashMap<String, Tensor>> {
    candle_core::safetensors::load(path, &Device::Cpu).with_context(|| format!("cannot read {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_opens_at_its_conditional_gain_and_tells_below_it_what_to_do() {
        let state = |measured: f64| RunState {
            stage: "pretrain".into(),
            step: 750,
            seconds: 0.0,
            best: None,
            gate: Some(Gate { least: 0.4, measured }),
            taught: None,
        };
        assert!(state(0.4).check_gate().is_ok());
        let error = state(0.0).check_gate().expect_err("below the gate").to_string();
        assert!(error.contains("pretrain") && error.contains("at least 0.4") && error.contains("--resume"), "{error}");
        assert!(RunState { gate: None, ..state(0.0) }.check_gate().is_ok(), "the paper's recipe has no gate");
    }
}
