//! How worker and model are.

use crate::protocol::{LoadProgress, WorkerError};

/// The worker's life.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum WorkerStatus {
    /// It has not spoken yet.
    #[default]
    Starting,
    /// It listens.
    Ready,
    /// It trapped or could not start.
    Dead {
        /// What is known.
        reason: String,
    },
}

/// A model's way into the worker.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum LoadStatus {
    /// None is on its way.
    #[default]
    Idle,
    /// On its way; `None` before the first report.
    Loading(Option<LoadProgress>),
    /// It did not arrive. The model before may still answer.
    Failed(WorkerError),
}
