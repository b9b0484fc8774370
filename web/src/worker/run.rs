//! Runs one request after the other on the model at hand.

use hormone_t5::HormoneT5;
use hormone_t5::manifest::ModelEntry;
use hormone_t5::{Encoded, Error};

use super::texts::{Read, RecentTexts};
use super::{Conversation, Interruption, Job, lanes, now_ms};
use crate::model_store::{self, Found, ModelStore};
use crate::protocol::{LoadProgress, LoadStage, LoadedModel, WorkerError, WorkerRequest, WorkerResponse};

/// The model at hand and what it has read.
#[derive(Debug, Default)]
pub(super) struct Runner {
    model: Option<HormoneT5>,
    texts: RecentTexts,
}

impl Runner {
    /// Runs a request to its terminal answer.
    pub(super) async fn run(&mut self, conversation: &Conversation, job: Job) -> WorkerResponse {
        match self.run_job(conversation, job).await {
            Ok(()) => WorkerResponse::Done,
            Err(Interruption::Cancelled) => WorkerResponse::Cancelled,
            Err(Interruption::Failed(error)) => WorkerResponse::Failed { error },
        }
    }

    async fn run_job(&mut self, conversation: &Conversation, job: Job) -> Result<(), Interruption> {
        match job.request {
            WorkerRequest::LoadModel { models_url, model } => self.load(conversation, &models_url, model.as_deref()).await,
            WorkerRequest::LoadOwnFiles => self.load_own(conversation, &job.files).await,
            WorkerRequest::Analyze { text, attention_temperature } => {
                self.read(conversation, &text, attention_temperature).await?;
                Ok(())
            }
            WorkerRequest::Generate { text, attention_temperature, lanes } => {
                let encoded = self.read(conversation, &text, attention_temperature).await?;
                let Self { model, texts } = self;
                let model = model.as_ref().ok_or(WorkerError::NoModel)?;
                lanes::reply(conversation, model, &encoded, lanes, || read_waiting(conversation, model, texts)).await
            }
            WorkerRequest::DeleteDownloads => Ok(model_store::delete_all().await?),
            // Taken before it is queued.
            WorkerRequest::Cancel { .. } => Ok(()),
        }
    }

    async fn load(&mut self, conversation: &Conversation, models_url: &str, model: Option<&str>) -> Result<(), Interruption> {
        let started_ms = now_ms();
        let store = ModelStore::open(models_url).await;
        let manifest = store.manifest().await?;
        conversation.say(WorkerResponse::Models { manifest: manifest.clone() });
        let id = model.unwrap_or(&manifest.default);
        let entry = manifest.model(id).map_err(|error| WorkerError::Manifest { reason: error.to_string() })?;
        let found = store.files(entry, async |progress| report(conversation, progress).await).await?;
        self.build(conversation, found, Some(entry), id, started_ms).await
    }

    async fn load_own(&mut self, conversation: &Conversation, files: &[web_sys::File]) -> Result<(), Interruption> {
        let started_ms = now_ms();
        let found = model_store::own_files(files, async |progress| report(conversation, progress).await).await?;
        let id = found.weights_name.clone();
        self.build(conversation, found, None, &id, started_ms).await
    }

    /// Makes the model of its bytes. The old model goes first, since a worker's memory never shrinks, but not before [`LoadStage::Build`] is
    /// said: a load that fails or is cancelled earlier leaves it be.
    async fn build(
        &mut self,
        conversation: &Conversation,
        found: Found,
        entry: Option<&ModelEntry>,
        id: &str,
        started_ms: f64,
    ) -> Result<(), Interruption> {
        let total_bytes = found.total_bytes();
        let progress =
            LoadProgress { model: id.to_string(), stage: LoadStage::Build, file: String::new(), received_bytes: total_bytes, total_bytes };
        // The last chance to cancel: from here on the old model is gone.
        conversation.pause().await?;
        conversation.say(WorkerResponse::LoadProgress { progress });
        self.texts.clear();
        self.model = None;
        let model = HormoneT5::load(found.files).map_err(model_error)?;
        model.check().map_err(model_error)?;
        let loaded = LoadedModel {
            entry: entry.cloned(),
            id: id.to_string(),
            learned_alpha: model.learned_alpha(),
            attention_temperature: model.hormone_config().attention_temperature,
            d_model: model.config().d_model,
            num_layers: model.config().num_layers,
            num_decoder_layers: model.config().num_decoder_layers(),
            vocab_size: model.config().vocab_size,
            stored: found.stored,
            load_ms: now_ms() - started_ms,
        };
        self.model = Some(model);
        conversation.say(WorkerResponse::Loaded { model: Box::new(loaded) });
        Ok(())
    }

    async fn read(&mut self, conversation: &Conversation, text: &str, attention_temperature: Option<f64>) -> Result<Encoded, Interruption> {
        // A message that cancels may have come together with the one that asks.
        conversation.pause().await?;
        let model = self.model.as_ref().ok_or(WorkerError::NoModel)?;
        let started_ms = now_ms();
        let Read { encoded, encoder_ran } = self.texts.read(model, text, attention_temperature).map_err(model_error)?;
        let encoder_ms = encoder_ran.then(|| now_ms() - started_ms);
        conversation.say(WorkerResponse::Reading { analysis: encoded.analysis().clone(), encoder_ms });
        Ok(encoded)
    }
}

/// Serves the readings that came while replies are made: whoever types need not wait for the end of a reply.
fn read_waiting(conversation: &Conversation, model: &HormoneT5, texts: &mut RecentTexts) {
    while let Some((reading, text, attention_temperature)) = conversation.next_reading() {
        let started_ms = now_ms();
        let answer = match texts.read(model, &text, attention_temperature).map_err(model_error) {
            Ok(Read { encoded, encoder_ran }) => {
                let encoder_ms = encoder_ran.then(|| now_ms() - started_ms);
                reading.say(WorkerResponse::Reading { analysis: encoded.analysis().clone(), encoder_ms });
                WorkerResponse::Done
            }
            Err(error) => WorkerResponse::Failed { error },
        };
        reading.say(answer);
    }
}

async fn report(conversation: &Conversation, progress: LoadProgress) -> Result<(), Interruption> {
    conversation.say(WorkerResponse::LoadProgress { progress });
    conversation.pause().await
}

/// The model crate's error for the page.
pub(super) fn model_error(error: Error) -> WorkerError {
    match error {
        Error::EmptyText => WorkerError::EmptyText,
        error => WorkerError::Model { reason: error.to_string() },
    }
}
