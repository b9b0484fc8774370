//! `cargo xtask <command>`: sets up the tools by itself; serves, builds and tests the page.

mod bench;
mod browser;
mod bundle;
mod command;
mod inspect;
mod lockfile;
mod project;
mod public_url;
mod recordings;
mod serve;
mod stamp;
mod tests;
mod tools;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use public_url::PublicUrl;
use tests::Stage;

/// Serves, builds and tests the page. Missing tools are installed first, with a word on how long that takes.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Builds the page where something changed and serves it on this machine only
    Serve {
        #[arg(long, default_value_t = 8080)]
        port: u16,
        /// Opens the page in the default browser
        #[arg(long)]
        open: bool,
        /// Where the page will lie: `./` (anywhere), `/` or `/demo/`
        #[arg(long, default_value_t)]
        public_url: PublicUrl,
    },
    /// Writes the finished page into dist/, ready for any static host
    Build {
        /// Where the page will lie: `./` (anywhere), `/` or `/demo/`
        #[arg(long, default_value_t)]
        public_url: PublicUrl,
    },
    /// Takes the pictures of docs/screenshots/ from the running page
    Screenshots {
        /// Takes only those whose name holds this text
        name: Option<String>,
        /// Where they go
        #[arg(long, default_value = "docs/screenshots")]
        folder: PathBuf,
    },
    /// Records the examples that fill the page while its weights load, with the model that it loads
    Record,
    /// Runs every check: format, lints, native tests, wasm tests, the build, the page in a real browser
    Test {
        /// Runs this stage alone
        #[arg(long, value_enum)]
        only: Option<Stage>,
        /// Runs only the tests whose name holds this text
        #[arg(long, value_name = "NAME")]
        filter: Option<String>,
    },
    /// Measures the built worker in a real browser beside what people would use instead
    Bench {
        /// Files of `scripts/export_onnx.py`: onnxruntime-web runs too
        #[arg(long, value_name = "DIR")]
        onnx: Option<PathBuf>,
        /// A page built before, instead of building it now: to compare versions
        #[arg(long, value_name = "DIR")]
        dist: Option<PathBuf>,
        /// Few rounds, to see that all works
        #[arg(long)]
        quick: bool,
    },
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Serve { port, open, public_url } => serve::serve(port, open, &public_url),
        Command::Build { public_url } => bundle::build(&public_url).map(|_| ()),
        Command::Screenshots { name, folder } => recordings::screenshots(&folder, name.as_deref()),
        Command::Record => recordings::record(),
        Command::Test { only, filter } => tests::test(only, filter.as_deref()),
        Command::Bench { onnx, dist, quick } => bench::bench(dist.as_deref(), onnx.as_deref(), quick),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nerror: {error}");
            for cause in error.chain().skip(1) {
                eprintln!("  because: {cause}");
            }
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod cli_tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
