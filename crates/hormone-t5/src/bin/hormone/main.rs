//! `hormone`: trains, measures, tries out and exports the models that the page loads.

mod batch;
mod checkpoint;
mod cli;
mod corpora;
mod dialogues;
mod embeddings;
mod evaluate;
mod evaluation;
mod export;
mod loss;
mod mixture;
mod optimizer;
mod reflection;
mod run;
mod schedule;
mod stages;
mod talk;
mod teacher;
mod tokenizer_training;
mod trainer;

use anyhow::Result;
use clap::Parser;

use cli::{Cli, Command};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<()> {
    let cli = Cli::parse();
    let trains =
        matches!(cli.command, Command::Pretrain(_) | Command::Converse(_) | Command::Finetune(_) | Command::Train(_) | Command::Ablate(_));
    if trains || matches!(cli.command, Command::Eval(_)) {
        use_one_thread_per_product();
        keep_freed_memory();
    }
    match cli.command {
        Command::Tokenizer(arguments) => stages::tokenizer(&arguments),
        Command::Examples(arguments) => stages::examples(&arguments),
        Command::Messages(arguments) => stages::messages(&arguments),
        Command::Pretrain(arguments) => stages::pretrain(&arguments),
        Command::Converse(arguments) => stages::converse(&arguments),
        Command::Finetune(arguments) => stages::finetune(&arguments),
        Command::Train(arguments) => stages::train(&arguments),
        Command::Ablate(arguments) => stages::ablate(&arguments),
        Command::Eval(arguments) => evaluation::eval(&arguments),
        Command::Samples(arguments) => evaluation::samples(&arguments),
        Command::Export(arguments) => export::export(&arguments),
        Command::Analyze(arguments) => talk::analyze(&arguments),
        Command::Generate(arguments) => talk::generate(&arguments),
        Command::Chat(arguments) => talk::chat(&arguments),
    }
}

/// Training runs one part of the batch on each core; matrix products that spread over all cores as well would only get in each other's way.
#[allow(unsafe_code)]
fn use_one_thread_per_product() {
    // SAFETY: no other thread exists yet, so nothing reads the environment at the same time.
    unsafe { std::env::set_var("RAYON_NUM_THREADS", "1") };
}

/// Tensors of the same sizes come and go in every step: pages that went back to the system would have to be cleared again each time, a third of all work.
#[allow(unsafe_code)]
fn keep_freed_memory() {
    // `mi_option_purge_delay` of mimalloc's options, which the crate does not name.
    const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;
    // SAFETY: sets a number that the allocator reads; any value is allowed, and no other thread exists yet.
    unsafe { libmimalloc_sys::mi_option_set(PURGE_DELAY, -1) };
}
