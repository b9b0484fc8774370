//! The same model from every kind of file: f32 and f16 safetensors, GGUF Q8_0 and Q4_0; and files that are none of these.

use std::collections::HashMap;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use candle_core::quantized::{GgmlDType, QTensor, gguf_file};
use candle_core::{DType, Device, Tensor};
use hormone_t5::manifest::{Manifest, ModelFiles};
use hormone_t5::{Error, GenerationConfig, HormoneLevels, HormoneT5, Result, TextTokenizer};

const TEXTS: [&str; 4] = ["I GOT THE JOB!!!", "my dog died yesterday", "you are useless", "The train leaves at nine."];

fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets/models")
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| Error::Weights(format!("{}: {error}", path.display())))
}

/// The bundled default model.
fn bundled() -> Result<ModelFiles<Vec<u8>>> {
    let manifest = Manifest::from_json(&read(&models().join("manifest.json"))?)?;
    let files = &manifest.model(&manifest.default)?.files;
    let bytes = |path: &str| read(&models().join(path));
    Ok(ModelFiles {
        config: bytes(&files.config.path)?,
        hormone: bytes(&files.hormone.path)?,
        tokenizer: bytes(&files.tokenizer.path)?,
        weights: bytes(&files.weights.path)?,
    })
}

fn dense_tensors(gguf: &[u8]) -> Result<HashMap<String, Tensor>> {
    let mut reader = Cursor::new(gguf);
    let content = gguf_file::Content::read(&mut reader)?;
    let names = content.tensor_infos.keys();
    names.map(|name| Ok((name.clone(), content.tensor(&mut reader, name, &Device::Cpu)?.dequantize(&Device::Cpu)?))).collect()
}

fn safetensors(tensors: &HashMap<String, Tensor>, dtype: DType) -> Result<Vec<u8>> {
    let folder = tempfile::tempdir().map_err(|error| Error::Weights(error.to_string()))?;
    let path = folder.path().join("model.safetensors");
    let converted = tensors.iter().map(|(name, tensor)| Ok((name.clone(), tensor.to_dtype(dtype)?))).collect::<Result<HashMap<_, _>>>()?;
    candle_core::safetensors::save(&converted, &path)?;
    read(&path)
}

fn gguf(tensors: &HashMap<String, Tensor>, dtype: GgmlDType) -> Result<Vec<u8>> {
    let mut quantized = Vec::new();
    for (name, tensor) in tensors {
        let whole_blocks = tensor.rank() == 2 && tensor.dims()[1].is_multiple_of(dtype.block_size());
        quantized.push((name.as_str(), QTensor::quantize(tensor, if whole_blocks { dtype } else { GgmlDType::F32 })?));
    }
    let entries: Vec<(&str, &QTensor)> = quantized.iter().map(|(name, tensor)| (*name, tensor)).collect();
    let mut bytes = Cursor::new(Vec::new());
    gguf_file::write(&mut bytes, &[], &entries)?;
    Ok(bytes.into_inner())
}

fn largest_difference(a: &HormoneT5, b: &HormoneT5) -> Result<f32> {
    let mut largest = 0.0f32;
    for text in TEXTS {
        let (a, b): (HormoneLevels, HormoneLevels) = (a.analyze(text)?.levels, b.analyze(text)?.levels);
        largest = a.to_array().iter().zip(b.to_array()).fold(largest, |largest, (a, b)| largest.max((a - b).abs()));
    }
    Ok(largest)
}

#[test]
fn q8_0_levels_stay_within_two_hundredths_of_f32() -> Result<()> {
    let files = bundled()?;
    let quantized = HormoneT5::load(files.clone())?;
    let dense = HormoneT5::load(ModelFiles { weights: safetensors(&dense_tensors(&files.weights)?, DType::F32)?, ..files })?;
    let difference = largest_difference(&quantized, &dense)?;
    assert!(difference < 0.02, "{difference}");
    Ok(())
}

#[test]
fn cached_decoding_of_quantised_weights_equals_teacher_forcing() -> Result<()> {
    let model = HormoneT5::load(bundled()?)?;
    let source = Tensor::new(&[[100u32, 2000, 31, 407, 1]], &Device::Cpu)?;
    let mask = Tensor::ones((1, 5), DType::F32, &Device::Cpu)?;
    let hidden = model.t5().encode(&source, &mask)?;
    let targets: Vec<u32> = (0..20).map(|place| (place * 391) % 8000).collect();
    let whole = model.t5().decode(&Tensor::new(targets.as_slice(), &Device::Cpu)?.unsqueeze(0)?, &hidden, &mask)?.logits;
    let mut cache = model.t5().start_decoding(&hidden, &mask)?;
    for (place, id) in targets.iter().enumerate() {
        let step = model.t5().decode_step(&Tensor::new(&[*id], &Device::Cpu)?, &mut cache)?.logits;
        let difference: f32 = (step - whole.narrow(1, place, 1)?)?.abs()?.max_all()?.to_scalar()?;
        assert!(difference < 1e-2, "token {place}: {difference}");
    }
    Ok(())
}

#[test]
fn weights_of_broken_numbers_are_found_wherever_they_stand() -> Result<()> {
    let files = bundled()?;
    let tensors = dense_tensors(&files.weights)?;
    HormoneT5::load(files.clone())?.check()?;
    for name in [
        "t5.encoder.block.0.layer.0.SelfAttention.q.weight",
        "t5.decoder.block.2.layer.2.DenseReluDense.wo.weight",
        "t5.decoder.block.0.layer.1.EncDecAttention.k.weight",
        "hormone_block.hormone_heads.cortisol.value_proj.weight",
    ] {
        let mut broken = tensors.clone();
        broken.insert(name.to_string(), (&tensors[name] * f64::NAN)?);
        let weights = safetensors(&broken, DType::F32)?;
        let checked = HormoneT5::load(ModelFiles { weights, ..files.clone() }).and_then(|model| model.check());
        assert!(matches!(checked, Err(Error::Weights(_))), "{name}: {checked:?}");
    }
    Ok(())
}

#[test]
fn f16_weights_give_nearly_the_levels_of_f32() -> Result<()> {
    let files = bundled()?;
    let tensors = dense_tensors(&files.weights)?;
    let load = |dtype| HormoneT5::load(ModelFiles { weights: safetensors(&tensors, dtype)?, ..files.clone() });
    let difference = largest_difference(&load(DType::F16)?, &load(DType::F32)?)?;
    assert!(difference < 0.002, "{difference}");
    Ok(())
}

#[test]
fn q4_0_weights_load_read_and_reply() -> Result<()> {
    let files = bundled()?;
    let dense = HormoneT5::load(files.clone())?;
    let rough = HormoneT5::load(ModelFiles { weights: gguf(&dense_tensors(&files.weights)?, GgmlDType::Q4_0)?, ..files })?;
    let difference = largest_difference(&rough, &dense)?;
    assert!(difference < 0.25, "{difference}");
    let encoded = rough.encode(TEXTS[0])?;
    assert!(
        rough.generate(&encoded, GenerationConfig { min_new_tokens: 3, max_new_tokens: 3, ..GenerationConfig::default() })?.count() == 3
    );
    Ok(())
}

#[test]
fn a_bundled_model_is_what_the_manifest_says() -> Result<()> {
    let manifest = Manifest::from_json(&read(&models().join("manifest.json"))?)?;
    for model in &manifest.models {
        for file in [&model.files.config, &model.files.hormone, &model.files.tokenizer, &model.files.weights] {
            assert_eq!(read(&models().join(&file.path))?.len() as u64, file.bytes, "{}", file.path);
        }
    }
    Ok(())
}

#[test]
fn damaged_and_foreign_weights_are_clear_errors() -> Result<()> {
    let files = bundled()?;
    let weights = files.weights.clone();
    let cut_off = weights[..weights.len() / 2].to_vec();
    let page = b"<!doctype html><html></html>".to_vec();
    let other_model = safetensors(&HashMap::from([("x".to_string(), Tensor::zeros((2, 2), DType::F32, &Device::Cpu)?)]), DType::F32)?;
    for (name, weights) in [("cut off", cut_off), ("web page", page), ("empty", Vec::new()), ("other model", other_model)] {
        let error = HormoneT5::load(ModelFiles { weights, ..files.clone() }).err();
        assert!(matches!(error, Some(Error::Weights(_))), "{name}: {error:?}");
    }
    Ok(())
}

#[test]
fn decoded_text_only_grows_where_characters_come_byte_by_byte() -> Result<()> {
    let tokenizer = TextTokenizer::from_json(&read(&models().join("hormone-t5-mini/tokenizer.json"))?, 1)?;
    let mut ids: Vec<u32> = tokenizer.encode("", "漢字 𝄞!", 64)?.tokens.iter().map(|token| token.id).collect();
    ids.pop();
    let mut shown = String::new();
    for count in 1..=ids.len() {
        let text = tokenizer.decode(&ids[..count])?;
        assert!(text.starts_with(&shown) && !text.contains('\u{fffd}'), "{shown} became {text}");
        shown = text;
    }
    assert_eq!(shown.trim(), "漢字 𝄞!");
    // A byte that begins no character spoils none beside it.
    let byte = |byte: u8| ids.iter().copied().find(|id| tokenizer.piece(*id) == format!("<0x{byte:02X}>"));
    let (Some(first), Some(second), Some(third)) = (byte(0xE6), byte(0xBC), byte(0xA2)) else {
        panic!("the first character is three bytes")
    };
    assert_eq!(tokenizer.decode(&[third, first, second, third, first])?.trim(), "漢");
    Ok(())
}
