//! `export`: a run as the page loads it, and its entry in the manifest.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::BufWriter;
use std::path::Path;

use anyhow::{Context, Result};
use candle_core::quantized::{GgmlDType, QTensor, gguf_file};
use candle_core::{DType, Tensor, Var};
use hormone_t5::manifest::{FileEntry, Manifest, ModelEntry, ModelFiles};
use sha2::{Digest, Sha256};

use crate::checkpoint::ModelFolder;
use crate::cli::ExportArguments;

/// Writes the model's folder and the manifest.
pub(crate) fn export(arguments: &ExportArguments) -> Result<()> {
    let run = ModelFolder::new(&arguments.from);
    let variables = run.variables()?;
    let target = ModelFolder::new(arguments.models.join(&arguments.id));
    target.save_setup(&run.config()?, &run.hormone_config()?, &run.tokenizer()?)?;
    write_gguf(&variables, &target.path().join("model.gguf"))?;
    if arguments.safetensors {
        write_half(&variables, &target.path().join("model.safetensors"))?;
    }
    target.load().context("the exported model does not load")?;

    let entry = ModelEntry {
        id: arguments.id.clone(),
        description: BTreeMap::from([
            ("en".to_string(), arguments.description_en.clone()),
            ("nl".to_string(), arguments.description_nl.clone()),
        ]),
        parameters: variables.values().map(|variable| variable.elem_count() as u64).sum(),
        quantization: "Q8_0".to_string(),
        files: ModelFiles {
            config: file_entry(&arguments.models, &arguments.id, "config.json")?,
            hormone: file_entry(&arguments.models, &arguments.id, "hormone.json")?,
            tokenizer: file_entry(&arguments.models, &arguments.id, "tokenizer.json")?,
            weights: file_entry(&arguments.models, &arguments.id, "model.gguf")?,
        },
        trained_on: arguments.trained_on.clone(),
        licence: arguments.licence.clone(),
        results: arguments.results.as_deref().map(numbers).transpose()?.unwrap_or_default(),
    };
    println!("{}: {} parameters, {} bytes of weights", entry.id, entry.parameters, entry.files.weights.bytes);
    update_manifest(&arguments.models, entry, arguments.default)
}

/// T5's matrices whose rows are whole blocks become Q8_0 and the hormone block's f16; norms, biases, queries and position biases stay f32.
fn write_gguf(variables: &BTreeMap<String, Var>, path: &Path) -> Result<()> {
    let mut tensors = Vec::with_capacity(variables.len());
    for (name, variable) in variables {
        let tensor = variable.as_detached_tensor();
        let dtype = stored_as(name, &tensor);
        // GGUF has no scalars.
        let tensor = if tensor.rank() == 0 { tensor.reshape(1)? } else { tensor };
        tensors.push((name.as_str(), QTensor::quantize(&tensor, dtype)?));
    }
    let entries: Vec<(&str, &QTensor)> = tensors.iter().map(|(name, tensor)| (*name, tensor)).collect();
    let mut file = BufWriter::new(fs::File::create(path).with_context(|| format!("cannot write {}", path.display()))?);
    let architecture = gguf_file::Value::String("hormone-t5".to_string());
    Ok(gguf_file::write(&mut file, &[("general.architecture", &architecture)], &entries)?)
}

fn stored_as(name: &str, tensor: &Tensor) -> GgmlDType {
    let is_matrix = tensor.rank() == 2 && tensor.dims()[1].is_multiple_of(GgmlDType::Q8_0.block_size());
    if !is_matrix || name.contains("relative_attention_bias") {
        GgmlDType::F32
    } else if name.starts_with("hormone_block.") {
        // Small beside the rest, and what the levels come from: 8 bits would move them.
        GgmlDType::F16
    } else {
        GgmlDType::Q8_0
    }
}

fn write_half(variables: &BTreeMap<String, Var>, path: &Path) -> Result<()> {
    let half = variables.iter().map(|(name, variable)| Ok((name.clone(), variable.as_detached_tensor().to_dtype(DType::F16)?)));
    let half: HashMap<String, Tensor> = half.collect::<Result<_>>()?;
    Ok(candle_core::safetensors::save(&half, path)?)
}

fn file_entry(models: &Path, id: &str, name: &str) -> Result<FileEntry> {
    let bytes = fs::read(models.join(id).join(name))?;
    Ok(FileEntry { path: format!("{id}/{name}"), bytes: bytes.len() as u64, sha256: sha256(&bytes) })
}

/// SHA-256 in hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// All top-level numbers of `eval`'s JSON.
fn numbers(path: &Path) -> Result<BTreeMap<String, f64>> {
    let json = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let values: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(&json).with_context(|| format!("{} is not what eval writes", path.display()))?;
    Ok(values.into_iter().filter_map(|(name, value)| Some((name, value.as_f64()?))).collect())
}

fn update_manifest(models: &Path, entry: ModelEntry, default: bool) -> Result<()> {
    let path = models.join("manifest.json");
    let mut manifest = match fs::read(&path) {
        Ok(json) => Manifest::from_json(&json)?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Manifest { schema: 1, default: entry.id.clone(), models: Vec::new() },
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    if default {
        manifest.default = entry.id.clone();
    }
    match manifest.models.iter_mut().find(|model| model.id == entry.id) {
        Some(model) => *model = entry,
        None => manifest.models.push(entry),
    }
    let mut json = serde_json::to_vec_pretty(&manifest)?;
    json.push(b'\n');
    Ok(fs::write(&path, json)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: &str) -> ModelEntry {
        let file = |name: &str| FileEntry { path: format!("{id}/{name}"), bytes: 1, sha256: "0".repeat(64) };
        ModelEntry {
            id: id.to_string(),
            description: BTreeMap::from([("en".to_string(), "A model.".to_string()), ("nl".to_string(), "Een model.".to_string())]),
            parameters: 1,
            quantization: "Q8_0".to_string(),
            files: ModelFiles {
                config: file("config.json"),
                hormone: file("hormone.json"),
                tokenizer: file("tokenizer.json"),
                weights: file("model.gguf"),
            },
            trained_on: Vec::new(),
            licence: "MIT OR Apache-2.0".to_string(),
            results: BTreeMap::new(),
        }
    }

    #[test]
    fn a_model_joins_or_replaces_those_of_the_manifest_and_one_that_cannot_be_read_is_left_alone() -> Result<()> {
        let folder = tempfile::tempdir()?;
        update_manifest(folder.path(), entry("first"), false)?;
        update_manifest(folder.path(), entry("second"), true)?;
        update_manifest(folder.path(), ModelEntry { parameters: 7, ..entry("first") }, false)?;
        let path = folder.path().join("manifest.json");
        let manifest = Manifest::from_json(&fs::read(&path)?)?;
        assert_eq!((manifest.default.as_str(), manifest.models.len(), manifest.models[0].parameters), ("second", 2, 7));
        fs::write(&path, "no manifest")?;
        assert!(update_manifest(folder.path(), entry("third"), false).is_err());
        assert_eq!(fs::read_to_string(&path)?, "no manifest");
        Ok(())
    }

    #[test]
    fn only_matrices_of_whole_blocks_are_quantised_and_those_of_the_block_less() -> Result<()> {
        let stored = |name: &str, shape: &[usize]| -> Result<GgmlDType> {
            Ok(stored_as(name, &Tensor::zeros(shape, DType::F32, &candle_core::Device::Cpu)?))
        };
        assert_eq!(stored("t5.shared.weight", &[8, 64])?, GgmlDType::Q8_0);
        assert_eq!(stored("t5.encoder.block.0.layer.0.layer_norm.weight", &[64])?, GgmlDType::F32);
        assert_eq!(stored("t5.encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight", &[32, 64])?, GgmlDType::F32);
        assert_eq!(stored("t5.shared.weight", &[8, 30])?, GgmlDType::F32);
        assert_eq!(stored("hormone_block.hormone_heads.cortisol.value_proj.weight", &[64, 64])?, GgmlDType::F16);
        Ok(())
    }
}
