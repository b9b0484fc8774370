//! What each part of the recipe is worth: every variant trained from the same T5 with a new block, for the same number of epochs.

use std::fmt::Write as _;
use std::fs;

use anyhow::{Context, Result};

use super::paper::{PaperRun, Variant};
use crate::cli::{AblateArguments, RunArguments};
use crate::evaluate::HeldOutReport;

/// `hormone ablate`: trains the variants one after the other and writes one table.
pub(crate) fn ablate(arguments: &AblateArguments) -> Result<()> {
    let mut table = String::from("variant,epochs,mse,mae,accuracy,range,tone_accuracy,reply_loss\n");
    for variant in Variant::ALL {
        let folder = arguments.run.join(variant.name());
        let resume = folder.join("state.json").is_file();
        let run = RunArguments { curve: Some(folder.join("curve.csv")), run: folder, resume, minutes: None, threads: arguments.threads };
        fs::create_dir_all(&run.run).with_context(|| format!("cannot make the folder {}", run.run.display()))?;
        println!("{}", variant.name());
        let run = PaperRun {
            variant,
            texts: &arguments.texts,
            run: &run,
            from: &arguments.from,
            epochs: arguments.epochs,
            evaluate_every: arguments.epochs,
            seed: arguments.seed,
        };
        let Some(report) = run.train()? else {
            println!("{} is not finished; the same command goes on from here", variant.name());
            break;
        };
        writeln!(table, "{}", line(variant, arguments.epochs, &report))?;
        fs::write(&arguments.output, &table).with_context(|| format!("cannot write {}", arguments.output.display()))?;
    }
    print!("{table}");
    Ok(())
}

/// Means over the hormones that the variant reads; no figure where it reads none.
fn line(variant: Variant, epochs: u64, report: &HeldOutReport) -> String {
    let read = &report.hormones[..variant.hormones()];
    let figures = [
        read.iter().map(|hormone| hormone.mse).sum::<f64>() / read.len() as f64,
        read.iter().map(|hormone| hormone.mae).sum::<f64>() / read.len() as f64,
        read.iter().map(|hormone| hormone.accuracy).sum::<f64>() / read.len() as f64,
        read.iter().map(|hormone| hormone.range).sum::<f64>() / read.len() as f64,
    ];
    let cell = |figure: f64| if variant == Variant::NoBlock { String::new() } else { format!("{figure:.4}") };
    let tone = if variant.hormones() == 6 { cell(report.tone_accuracy) } else { String::new() };
    format!("{},{epochs},{},{tone},{:.4}", variant.name(), figures.map(cell).join(","), report.sequence_loss)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::HormoneReport;

    #[test]
    fn a_line_has_no_level_figures_where_no_levels_are_read_and_means_of_those_that_are() {
        let hormone = |mse: f64| HormoneReport { mse, mae: 0.1, accuracy: 0.5, range: 0.8 };
        let hormones = vec![hormone(0.1), hormone(0.2), hormone(0.3), hormone(9.0), hormone(9.0), hormone(9.0)];
        let report = HeldOutReport { hormones, tone_accuracy: 0.75, sequence_loss: 4.0, ..HeldOutReport::default() };
        assert_eq!(line(Variant::ThreeHormones, 2, &report), "three_hormones,2,0.2000,0.1000,0.5000,0.8000,,4.0000");
        assert_eq!(line(Variant::NoBlock, 2, &report), "no_block,2,,,,,,4.0000");
        assert_eq!(line(Variant::Full, 2, &report), "full,2,4.6000,0.1000,0.5000,0.8000,0.7500,4.0000");
    }
}
