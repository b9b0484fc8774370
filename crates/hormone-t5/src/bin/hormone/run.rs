//! A training run: steps, progress, evaluation, loss curve, checkpoints; Ctrl-C ends it after the current step with a checkpoint.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use indicatif::{ProgressBar, ProgressStyle};

use crate::batch::EncodedExample;
use crate::checkpoint::{Gate, ModelFolder, RunState};
use crate::evaluate::{HeldOut, HeldOutReport};
use crate::schedule::Schedule;
use crate::trainer::{LossReport, Trainer};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// What a run is told.
#[derive(Clone, Debug)]
pub(crate) struct RunOptions {
    /// Name of the stage, kept in the checkpoint.
    pub(crate) stage: &'static str,
    /// Where the loss curve goes.
    pub(crate) curve: PathBuf,
    /// Peak learning rate.
    pub(crate) learning_rate: f64,
    pub(crate) schedule: Schedule,
    pub(crate) total_steps: u64,
    /// Steps between evaluations, which are also checkpoints.
    pub(crate) evaluate_every: u64,
    /// Steps between checkpoints.
    pub(crate) checkpoint_every: u64,
    /// Ends after this long, to be resumed.
    pub(crate) time_limit: Option<Duration>,
    /// Go on from the checkpoint in the folder.
    pub(crate) resume: bool,
    /// SHA-256 of the texts that a teacher has read, where there are any: a run that goes on goes on with the same.
    pub(crate) taught: Option<String>,
    pub(crate) early_stop: Option<EarlyStop>,
    /// Gate of the stage.
    pub(crate) least_conditional_gain: Option<f64>,
}

/// Ends a run whose held-out total has not improved for `patience_steps`, once `after_steps` are done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EarlyStop {
    pub(crate) after_steps: u64,
    pub(crate) patience_steps: u64,
}

/// Trains until the last step, the time limit, early stop or Ctrl-C. `batch(step)` must give the same examples for the same step. Whether the run is
/// over, so that there is nothing to resume.
pub(crate) fn run(
    trainer: &mut Trainer,
    folder: &ModelFolder,
    options: &RunOptions,
    held_out: &HeldOut,
    mut batch: impl FnMut(u64) -> Result<Vec<EncodedExample>>,
) -> Result<bool> {
    let mut state = start(trainer, folder, options)?;
    let mut curve = Curve::open(&options.curve, state.step)?;
    let progress = progress_bar(options.total_steps, state.step)?;
    // A second run in one process keeps the first handler; that is the same one.
    let _ = ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::SeqCst));
    let (begun, seconds_before) = (Instant::now(), state.seconds);
    let mut recent = Recent::default();
    while state.step < options.total_steps {
        let examples = batch(state.step)?;
        let rate = options.learning_rate * options.schedule.factor(state.step);
        let report = trainer.step(&examples, rate)?;
        recent.add(&report, examples.len());
        state.step += 1;
        state.seconds = seconds_before + begun.elapsed().as_secs_f64();
        progress.set_position(state.step);
        progress.set_message(format!(
            "loss {:.3}  levels {:.0} %  {:.0} pairs/s",
            recent.loss(),
            100.0 * recent.levels_within(),
            recent.pairs_per_second()
        ));
        let interrupted = INTERRUPTED.load(Ordering::SeqCst);
        let out_of_time = options.time_limit.is_some_and(|limit| begun.elapsed() >= limit);
        let last = state.step == options.total_steps || interrupted || out_of_time;
        if last || state.step.is_multiple_of(options.evaluate_every) {
            recent.end();
            let report = held_out.report(&trainer.model()?)?;
            curve.add(&state, rate, &recent, &report)?;
            let line = format!(
                "step {:>6}  {:>5.0} s  loss {:.3}  {report}  {:.1} pairs/s",
                state.step,
                state.seconds,
                recent.loss(),
                recent.pairs_per_second()
            );
            // A hidden bar (output to a file) prints nothing.
            progress.suspend(|| println!("{line}"));
            recent = Recent::default();
            state.gate = options.least_conditional_gain.map(|least| Gate { least, measured: report.conditional_gain });
            if state.best.is_none_or(|(best, _)| report.total() < best) {
                state.best = Some((report.total(), state.step));
                folder.write("best_report.json", &serde_json::to_vec_pretty(&report)?)?;
            }
            folder.save_run(&trainer.variables, &trainer.optimizer, &state)?;
        } else if state.step.is_multiple_of(options.checkpoint_every) {
            folder.save_run(&trainer.variables, &trainer.optimizer, &state)?;
        }
        let stalled = options.early_stop.is_some_and(|stop| {
            let best_step = state.best.map_or(0, |(_, step)| step);
            state.step >= stop.after_steps && state.step - best_step >= stop.patience_steps
        });
        if interrupted || out_of_time || stalled {
            let why = if interrupted {
                "interrupted"
            } else if out_of_time {
                "time is up"
            } else {
                "no longer improving"
            };
            progress.abandon();
            println!("{why} at step {}{}", state.step, if stalled { "" } else { "; --resume goes on from here" });
            return Ok(stalled);
        }
    }
    progress.finish();
    state.check_gate()?;
    Ok(true)
}

fn start(trainer: &mut Trainer, folder: &ModelFolder, options: &RunOptions) -> Result<RunState> {
    if !options.resume {
        // Nothing measured is no gain: what was never evaluated passes no gate.
        let gate = options.least_conditional_gain.map(|least| Gate { least, measured: 0.0 });
        let (stage, taught) = (options.stage.to_string(), options.taught.clone());
        return Ok(RunState { stage, step: 0, seconds: 0.0, best: None, gate, taught });
    }
    let (optimizer, state) = folder.load_run()?;
    if state.stage != options.stage {
        bail!(
            "{} holds a run of stage \"{}\", but this is \"{}\": name another folder.",
            folder.path().display(),
            state.stage,
            options.stage
        );
    }
    ensure!(
        state.taught == options.taught,
        "{} holds a run with {} of texts that a teacher has read: give the same to --taught.",
        folder.path().display(),
        state.taught.as_ref().map_or("no file".to_string(), |sha256| format!("the file {sha256}"))
    );
    trainer.optimizer.restore(&optimizer, state.step)?;
    Ok(state)
}

fn progress_bar(total: u64, done: u64) -> Result<ProgressBar> {
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len}  {elapsed_precise} (left {eta_precise})  {msg}")?;
    Ok(ProgressBar::new(total).with_style(style).with_position(done))
}

/// Means since the last evaluation.
struct Recent {
    sum: LossReport,
    steps: usize,
    pairs: usize,
    since: Instant,
    /// How long it took, once it has ended.
    took: Option<Duration>,
}

impl Default for Recent {
    fn default() -> Self {
        Self { sum: LossReport::default(), steps: 0, pairs: 0, since: Instant::now(), took: None }
    }
}

impl Recent {
    fn add(&mut self, report: &LossReport, pairs: usize) {
        self.sum += *report;
        self.steps += 1;
        self.pairs += pairs;
    }

    /// What follows, an evaluation, is not training time.
    fn end(&mut self) {
        self.took = Some(self.since.elapsed());
    }

    fn mean(&self, value: f32) -> f32 {
        value / self.steps.max(1) as f32
    }

    fn loss(&self) -> f32 {
        self.mean(self.sum.total)
    }

    fn levels_within(&self) -> f32 {
        self.mean(self.sum.levels_within)
    }

    fn pairs_per_second(&self) -> f64 {
        self.pairs as f64 / self.took.unwrap_or_else(|| self.since.elapsed()).as_secs_f64().max(1e-9)
    }
}

/// The loss curve as CSV, one line an evaluation.
struct Curve {
    file: File,
}

impl Curve {
    const HEADER: &str = "step,seconds,learning_rate,loss,sequence,level_mse,margin,diversity,levels_within,held_out_sequence,conditional_gain,held_out_level_mse,held_out_tone_accuracy,held_out_own_tone_accuracy,pairs_per_second";

    /// Opens for appending at `step`; lines of later steps, lost with a checkpoint, are dropped. A run that begins takes no other run's file.
    fn open(path: &Path, step: u64) -> Result<Self> {
        let context = || format!("cannot write the loss curve {}", path.display());
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).with_context(context)?;
        }
        let former = std::fs::read_to_string(path).unwrap_or_default();
        ensure!(
            step > 0 || former.lines().count() <= 1,
            "{} holds the curve of another run: move it, or name another with --curve",
            path.display()
        );
        let kept = former
            .lines()
            .skip(1)
            .filter(|line| line.split(',').next().and_then(|text| text.parse::<u64>().ok()).is_some_and(|at| at <= step && step > 0));
        let mut text = format!("{}\n", Self::HEADER);
        for line in kept {
            text.push_str(line);
            text.push('\n');
        }
        std::fs::write(path, text).with_context(context)?;
        Ok(Self { file: OpenOptions::new().append(true).open(path).with_context(context)? })
    }

    fn add(&mut self, state: &RunState, rate: f64, recent: &Recent, held_out: &HeldOutReport) -> Result<()> {
        let mean = |value: f32| recent.mean(value);
        let sum = &recent.sum;
        writeln!(
            self.file,
            "{},{:.0},{rate:.3e},{:.4},{:.4},{:.4},{:.4},{:.4},{:.4},{:.4},{:.4},{:.4},{:.4},{:.4},{:.1}",
            state.step,
            state.seconds,
            mean(sum.total),
            mean(sum.sequence),
            mean(sum.level_mse),
            mean(sum.margin),
            mean(sum.diversity),
            mean(sum.levels_within),
            held_out.sequence_loss,
            held_out.conditional_gain,
            held_out.level_mse,
            held_out.tone_accuracy,
            held_out.own_tone_accuracy,
            recent.pairs_per_second(),
        )?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resumed_curve_keeps_the_lines_up_to_its_step_and_a_new_run_takes_no_others_file() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("curve.csv");
        drop(Curve::open(&path, 0)?);
        assert_eq!(std::fs::read_to_string(&path)?, format!("{}\n", Curve::HEADER), "a file with a head alone is nobody's");
        std::fs::write(&path, format!("{}\n100,1,a\n200,2,b\n300,3,c\n", Curve::HEADER))?;
        drop(Curve::open(&path, 200)?);
        assert_eq!(std::fs::read_to_string(&path)?, format!("{}\n100,1,a\n200,2,b\n", Curve::HEADER));
        let error = Curve::open(&path, 0).err().context("another run's curve was taken")?;
        assert!(error.to_string().contains("--curve"), "{error}");
        Ok(())
    }
}
