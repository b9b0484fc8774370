//! What `runs/` says of a model: its loss curve (`<id>.csv`), its evaluation (`<id>.json`, as `hormone eval` writes it) and the ablations
//! (`ablations.csv`). `cargo xtask build` copies the folder and lists it in `runs/index.json`, so that nothing is asked for that is not there.

use hormone_t5::analysis::Hormone;
use serde::Deserialize;
use serde_json::Value;

use crate::paper::LevelFigures;

/// What is in the folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct RunList {
    /// Names of its files.
    pub files: Vec<String>,
}

/// A table of numbers over steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrainingRun {
    names: Vec<String>,
    rows: Vec<Vec<f64>>,
}

/// An ablation of our own, by the paper's name.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnAblation {
    /// As in [`crate::paper::ABLATIONS`], or `full`.
    pub name: String,
    /// Mean squared error.
    pub mse: f64,
    /// Share within 0.15.
    pub accuracy: f64,
    /// Largest less smallest mean prediction over the tones.
    pub range: f64,
}

impl RunList {
    /// Whether a file can be asked for.
    pub fn has(&self, file: &str) -> bool {
        self.files.iter().any(|name| name == file)
    }
}

impl TrainingRun {
    /// Reads a CSV file; rows that are not numbers (torn, another header after a restart) are left out.
    pub fn from_csv(csv: &str) -> Self {
        let mut lines = csv.lines();
        let names: Vec<String> = lines.next().unwrap_or_default().split(',').map(|name| name.trim().to_string()).collect();
        let row = |line: &str| line.split(',').map(|cell| cell.trim().parse().ok()).collect::<Option<Vec<f64>>>();
        let rows = lines.filter_map(row).filter(|row| row.len() == names.len()).collect();
        Self { names, rows }
    }

    /// Points of a column over the steps.
    pub fn points(&self, name: &str) -> Vec<(f64, f64)> {
        let column = |name: &str| self.names.iter().position(|column| column == name);
        let (Some(step), Some(value)) = (column("step"), column(name)) else { return Vec::new() };
        self.rows.iter().map(|row| (row[step], row[value])).filter(|(step, value)| step.is_finite() && value.is_finite()).collect()
    }

    /// First and last value of a column; `None` where it has fewer than two.
    pub fn first_and_last(&self, name: &str) -> Option<(f64, f64)> {
        let points = self.points(name);
        (points.len() > 1).then(|| (points[0].1, points[points.len() - 1].1))
    }
}

/// Reads `ablations.csv`: `variant,mse,accuracy,range` and perhaps more columns.
pub fn ablations(csv: &str) -> Vec<OwnAblation> {
    let mut lines = csv.lines();
    let names: Vec<&str> = lines.next().unwrap_or_default().split(',').map(str::trim).collect();
    let place = |name: &str| names.iter().position(|column| *column == name);
    let (Some(variant), Some(mse), Some(accuracy), Some(range)) = (place("variant"), place("mse"), place("accuracy"), place("range"))
    else {
        return Vec::new();
    };
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        let number = |place: usize| cells.get(place)?.parse::<f64>().ok();
        Some(OwnAblation { name: cells.get(variant)?.to_string(), mse: number(mse)?, accuracy: number(accuracy)?, range: number(range)? })
    };
    lines.filter_map(row).collect()
}

/// The figures of the six levels in an evaluation: those of the held-out messages where it names them, else the first `hormones` in it, a list in
/// their order or a map by their names.
pub fn level_figures(evaluation: &str) -> Option<[LevelFigures; 6]> {
    let evaluation: Value = serde_json::from_str(evaluation).ok()?;
    evaluation.get("heldout").and_then(find_hormones).or_else(|| find_hormones(&evaluation))
}

fn find_hormones(value: &Value) -> Option<[LevelFigures; 6]> {
    let own = value.get("hormones").and_then(|hormones| {
        let of = |hormone: Hormone| figures(hormones.get(hormone.index()).or_else(|| hormones.get(hormone.name()))?);
        Hormone::ALL.into_iter().map(of).collect::<Option<Vec<_>>>()?.try_into().ok()
    });
    own.or_else(|| match value {
        Value::Object(fields) => fields.values().find_map(find_hormones),
        Value::Array(items) => items.iter().find_map(find_hormones),
        _ => None,
    })
}

fn figures(value: &Value) -> Option<LevelFigures> {
    // A plain number, or one with its interval.
    let number = |name: &str| value.get(name).and_then(|figure| figure.as_f64().or_else(|| figure.get("value")?.as_f64()));
    Some(LevelFigures { mse: number("mse")?, mae: number("mae")?, accuracy: number("accuracy")?, range: number("range")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_models_curve_can_be_drawn() {
        let run = TrainingRun::from_csv(include_str!("../../runs/hormone-t5-first.csv"));
        assert!(run.points("held_out_sequence").len() > 1);
        let (first, last) = run.first_and_last("held_out_sequence").expect("two rows");
        assert!(last < first, "it learned");
        assert_eq!(run.points("no such column"), []);
    }

    #[test]
    fn torn_rows_are_left_out() {
        let run = TrainingRun::from_csv("step,loss\n1,2.5\n2,\nstep,loss\n3,NaN\n4,1.5\n5");
        assert_eq!(run.points("loss"), [(1.0, 2.5), (4.0, 1.5)]);
        assert_eq!(TrainingRun::from_csv("").points("loss"), []);
    }

    #[test]
    fn ablations_are_read_by_the_names_of_their_columns() {
        let found = ablations("variant,seed,mse,mae,accuracy,range\nfull,1,0.02,0.1,0.9,0.8\nno_margin,1,x,0.1,0.9,0.8\n");
        assert_eq!(found, [OwnAblation { name: "full".into(), mse: 0.02, accuracy: 0.9, range: 0.8 }]);
        assert!(ablations("nonsense").is_empty());
    }

    #[test]
    fn an_evaluation_is_found_wherever_it_stands() {
        let one = r#"{"mse":0.1,"mae":0.2,"accuracy":0.7,"range":0.8}"#;
        let list = format!(r#"{{"rows":3,"sets":[{{"name":"own","hormones":[{}]}}]}}"#, [one; 6].join(","));
        assert_eq!(level_figures(&list).map(|figures| figures[5].accuracy), Some(0.7));
        let named = Hormone::ALL.map(|hormone| format!(r#""{}":{one}"#, hormone.name())).join(",");
        assert!(level_figures(&format!(r#"{{"hormones":{{{named}}}}}"#)).is_some());
        let with_interval = one.replace("0.7", r#"{"value":0.6,"low":0.5,"high":0.7}"#);
        let two = format!(
            r#"{{"dialogues":{{"hormones":[{}]}},"heldout":{{"hormones":[{}]}}}}"#,
            [one; 6].join(","),
            vec![with_interval; 6].join(",")
        );
        assert_eq!(level_figures(&two).map(|figures| figures[0].accuracy), Some(0.6));
        assert_eq!(level_figures(&format!(r#"{{"hormones":[{one}]}}"#)), None);
        assert_eq!(level_figures("<html>"), None);
    }
}
