//! `analyze`, `generate` and `chat`: a model at work in the terminal.

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use hormone_t5::manifest::Manifest;
use hormone_t5::{Analysis, Decoding, GenerationConfig, HormoneLevels, HormoneT5, Tone};
use serde::Serialize;

use crate::checkpoint::ModelFolder;
use crate::cli::{AnalyzeArguments, ChatArguments, GenerateArguments, ModelArguments, ReplyArguments};

#[derive(Serialize)]
struct AnalysisLine<'a> {
    text: &'a str,
    levels: HormoneLevels,
    tone: Tone,
}

#[derive(Serialize)]
struct ReplyLine<'a> {
    text: &'a str,
    reply: String,
    levels: HormoneLevels,
}

/// A JSON line of levels for each input line.
pub(crate) fn analyze(arguments: &AnalyzeArguments) -> Result<()> {
    let model = load(&arguments.model)?;
    let mut output = io::stdout().lock();
    for_each_text(&arguments.input, |text| {
        let Analysis { levels, tone, .. } = model.analyze(text)?;
        write_line(&mut output, &AnalysisLine { text, levels, tone })
    })
}

/// A JSON line with a reply for each input line.
pub(crate) fn generate(arguments: &GenerateArguments) -> Result<()> {
    let config = generation_config(&arguments.reply)?;
    let model = load(&arguments.model)?;
    let mut output = io::stdout().lock();
    for_each_text(&arguments.input, |text| {
        let encoded = model.encode(text)?;
        let mut generation = model.generate(&encoded, config.clone())?;
        generation.by_ref().collect::<hormone_t5::Result<Vec<_>>>()?;
        let line = ReplyLine { text, reply: generation.text()?, levels: generation.levels() };
        write_line(&mut output, &line)
    })
}

/// Reads a message, shows the levels, streams the reply; until the end of input.
pub(crate) fn chat(arguments: &ChatArguments) -> Result<()> {
    let config = generation_config(&arguments.reply)?;
    let model = load(&arguments.model)?;
    let interactive = io::stdin().is_terminal();
    let mut output = io::stdout().lock();
    if interactive {
        writeln!(output, "Write a message; Ctrl-D ends. Levels are numbers a model computes, not feelings.")?;
    }
    loop {
        if interactive {
            write!(output, "> ")?;
            output.flush()?;
        }
        let mut message = String::new();
        if io::stdin().lock().read_line(&mut message)? == 0 {
            return Ok(());
        }
        match reply(&model, message.trim(), &config, &mut output) {
            Ok(()) => writeln!(output)?,
            Err(error) => writeln!(output, "{error}")?,
        }
    }
}

fn reply(model: &HormoneT5, message: &str, config: &GenerationConfig, output: &mut impl Write) -> Result<()> {
    let encoded = model.encode(message)?;
    let analysis = encoded.analysis();
    let levels: Vec<String> =
        hormone_t5::Hormone::ALL.iter().map(|hormone| format!("{} {:.2}", hormone.name(), analysis.levels.get(*hormone))).collect();
    writeln!(output, "[{}; nearest tone: {}]", levels.join(", "), analysis.tone.name())?;
    let mut generation = model.generate(&encoded, config.clone())?;
    let mut shown = 0;
    while let Some(token) = generation.next() {
        token?;
        let text = generation.text()?;
        // A later token may complete a character that was held back, but never changes what was shown.
        write!(output, "{}", text.get(shown..).unwrap_or_default())?;
        output.flush()?;
        shown = text.len();
    }
    Ok(())
}

/// The model of `--model`, or the manifest's default.
pub(crate) fn load(arguments: &ModelArguments) -> Result<HormoneT5> {
    let folder = match &arguments.model {
        Some(folder) => folder.clone(),
        None => {
            let path = arguments.models.join("manifest.json");
            let json = std::fs::read(&path).with_context(|| format!("cannot read {}: name a model folder with --model", path.display()))?;
            arguments.models.join(Manifest::from_json(&json)?.default)
        }
    };
    ModelFolder::new(folder).load()
}

fn generation_config(arguments: &ReplyArguments) -> Result<GenerationConfig> {
    let levels = match &arguments.levels {
        None => [None; 6],
        Some(levels) => match <[f32; 6]>::try_from(levels.as_slice()) {
            Ok(levels) => levels.map(Some),
            Err(_) => bail!(
                "--levels has {} numbers, but there are six hormones: dopamine,serotonin,cortisol,oxytocin,adrenaline,endorphins.",
                levels.len()
            ),
        },
    };
    let decoding = match arguments.greedy {
        true => Decoding::Greedy,
        false => Decoding::Sampling { temperature: 0.8, top_k: None, top_p: Some(0.92) },
    };
    let config = GenerationConfig {
        decoding,
        alpha: arguments.alpha,
        levels,
        max_new_tokens: arguments.max_new_tokens,
        seed: arguments.seed,
        ..GenerationConfig::default()
    };
    config.check()?;
    Ok(config)
}

/// Every line of a file or of standard input that holds text.
fn for_each_text(input: &Path, mut each: impl FnMut(&str) -> Result<()>) -> Result<()> {
    let reader: Box<dyn BufRead> = match input.as_os_str() == "-" {
        true => Box::new(BufReader::new(io::stdin())),
        false => Box::new(BufReader::new(File::open(input).with_context(|| format!("cannot read {}", input.display()))?)),
    };
    for (index, line) in reader.lines().enumerate() {
        let line = line.with_context(|| format!("line {} is not text in UTF-8", index + 1))?;
        if !line.trim().is_empty() {
            each(&line).with_context(|| format!("line {}", index + 1))?;
        }
    }
    Ok(())
}

fn write_line(output: &mut impl Write, line: &impl Serialize) -> Result<()> {
    serde_json::to_writer(&mut *output, line)?;
    Ok(writeln!(output)?)
}
