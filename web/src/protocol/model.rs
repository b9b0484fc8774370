//! The model on its way into the worker, and in it.

use hormone_t5::manifest::ModelEntry;
use serde::{Deserialize, Serialize};

/// How far a model has come.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct LoadProgress {
    /// Id of the model.
    pub model: String,
    /// What happens now.
    pub stage: LoadStage,
    /// The file at hand; empty when building.
    pub file: String,
    /// Bytes of all files that are here.
    pub received_bytes: u64,
    /// Bytes of all files.
    pub total_bytes: u64,
}

/// The steps of loading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadStage {
    /// From the server.
    Download,
    /// From this browser's store.
    Cache,
    /// From the user's own file.
    OwnFile,
    /// Comparing the SHA-256.
    Check,
    /// Making tensors of bytes: the model before is gone, and nothing cancels the load any more.
    Build,
}

/// The model that answers.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct LoadedModel {
    /// Its entry in the manifest; `None` for the user's own files.
    pub entry: Option<ModelEntry>,
    /// Id in the manifest, or the weights' file name.
    pub id: String,
    /// The alpha that training arrived at.
    pub learned_alpha: f32,
    /// The block's tau.
    pub attention_temperature: f64,
    /// Width of its hidden states.
    pub d_model: usize,
    /// Encoder layers.
    pub num_layers: usize,
    /// Decoder layers.
    pub num_decoder_layers: usize,
    /// Tokens in its vocabulary.
    pub vocab_size: usize,
    /// Whether the next visit finds it in this browser's store.
    pub stored: bool,
    /// How long it took, download included.
    pub load_ms: f64,
}

/// What a visitor must know of the weights before believing a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeightsKind {
    /// Nothing was learnt: every reply is noise.
    Random,
    /// Replies hardly depend on the message, or nobody has measured whether they do.
    Toy,
    /// The visitor's own files, of which this page knows nothing.
    Own,
    /// Measured, and its replies take up what is said.
    Trained,
}

impl WeightsKind {
    /// Name of the figure that tells a toy: how much worse replies fit another message than their own, per token.
    pub const FIGURE: &'static str = "conditional_gain";
    /// Below this a model is a toy.
    pub const TOY_BELOW: f64 = 0.2;

    /// As in test ids and translations.
    pub fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Toy => "toy",
            Self::Own => "own",
            Self::Trained => "trained",
        }
    }
}

impl LoadedModel {
    /// By its entry in the manifest, never by its name.
    pub fn kind(&self) -> WeightsKind {
        let Some(entry) = &self.entry else { return WeightsKind::Own };
        match entry.results.get(WeightsKind::FIGURE) {
            _ if entry.trained_on.is_empty() => WeightsKind::Random,
            Some(gain) if *gain >= WeightsKind::TOY_BELOW => WeightsKind::Trained,
            _ => WeightsKind::Toy,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(trained_on: &[&str], gain: Option<f64>) -> WeightsKind {
        let manifest = include_bytes!("../../../assets/models/manifest.json");
        let manifest = hormone_t5::manifest::Manifest::from_json(manifest).expect("the page's own manifest");
        let mut entry = manifest.models[0].clone();
        entry.trained_on = trained_on.iter().map(|name| name.to_string()).collect();
        entry.results = gain.map(|gain| (WeightsKind::FIGURE.to_string(), gain)).into_iter().collect();
        let model = LoadedModel {
            id: entry.id.clone(),
            entry: Some(entry),
            learned_alpha: 0.2,
            attention_temperature: 0.5,
            d_model: 8,
            num_layers: 1,
            num_decoder_layers: 1,
            vocab_size: 10,
            stored: false,
            load_ms: 1.0,
        };
        model.kind()
    }

    #[test]
    fn a_model_is_a_toy_until_its_replies_were_measured_to_take_up_the_message() {
        assert_eq!(kind(&[], Some(1.0)), WeightsKind::Random);
        assert_eq!(kind(&["Our dialogues"], None), WeightsKind::Toy);
        assert_eq!(kind(&["Our dialogues"], Some(0.05)), WeightsKind::Toy);
        assert_eq!(kind(&["Our dialogues"], Some(0.9)), WeightsKind::Trained);
    }
}
