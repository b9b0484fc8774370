//! Medians, ratios of the same round, and the tables of them.

use std::collections::BTreeMap;

/// Raw numbers by name, in the order of the rounds.
pub(super) type Samples = BTreeMap<String, Vec<f64>>;

/// A middle value with an interval that holds the true one at 95 % or, with few samples, all that was seen.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Estimate {
    median: f64,
    low: f64,
    high: f64,
}

/// By order statistics: no assumption on how times are distributed.
fn estimate(samples: &[f64]) -> Estimate {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len();
    if count == 0 {
        return Estimate { median: f64::NAN, low: f64::NAN, high: f64::NAN };
    }
    let median = if count % 2 == 1 { sorted[count / 2] } else { (sorted[count / 2 - 1] + sorted[count / 2]) / 2.0 };
    // The chance that the true median lies below the k-th value is that of fewer than k heads in `count` throws.
    let (mut outside, mut term, mut skip) = (0.0, 0.5f64.powi(count as i32), 0);
    while skip + 1 < count / 2 {
        outside += term;
        term *= (count - skip) as f64 / (skip + 1) as f64;
        if outside + term > 0.025 {
            break;
        }
        skip += 1;
    }
    Estimate { median, low: sorted[skip], high: sorted[count - 1 - skip] }
}

fn percentile(samples: &[f64], share: f64) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(place.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

/// `a / b` of each round.
fn ratios(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a / b).collect()
}

const SIDES: [(&str, &str); 5] = [
    ("ours", "this project, Q8_0"),
    ("onnx_q8", "onnxruntime-web, int8"),
    ("onnx_f32", "onnxruntime-web, f32"),
    ("candle_q8", "candle-transformers, Q8_0"),
    ("candle_f32", "candle-transformers, f32"),
];

/// All tables, in Markdown.
pub(super) fn tables(samples: &Samples, step_bytes: usize) -> String {
    let of = |name: &str| samples.get(name).map_or(&[][..], Vec::as_slice);
    let median = |name: &str| estimate(of(name)).median;
    let mut text = String::from(
        "| T5-small, 24 source tokens, 40 new ones, one thread | tokens/s | ours is faster by | encode, ms | ours takes | load, s |\n|---|---:|---:|---:|---:|---:|\n",
    );
    let (speed, encode) = (of("ours_tokens_per_second"), of("ours_encode_ms"));
    for (key, name) in SIDES {
        let (their_speed, their_encode) = (of(&format!("{key}_tokens_per_second")), of(&format!("{key}_encode_ms")));
        if their_speed.is_empty() {
            continue;
        }
        let ratio = |a, b| {
            let Estimate { median, low, high } = estimate(&ratios(a, b));
            format!("{median:.2} ({low:.2} to {high:.2})")
        };
        let (faster, takes) =
            if key == "ours" { (String::new(), String::new()) } else { (ratio(speed, their_speed), ratio(encode, their_encode)) };
        let load = if key == "ours" { median("small_load_ms") } else { median(&format!("{key}_load_ms")) };
        let load = if load.is_nan() { String::new() } else { format!("{:.1}", load / 1000.0) };
        let (speed, encode) = (estimate(their_speed).median, estimate(their_encode).median);
        text += &format!("| {name} | {speed:.1} | {faster} | {encode:.1} | {takes} | {load} |\n");
    }
    let bandwidth = median("read_gigabytes_per_second");
    let bound = bandwidth * 1e9 / step_bytes as f64;
    let ours = estimate(speed).median;
    text += &format!(
        "\nA step reads {:.1} MB of weights; a read loop in wasm reaches {bandwidth:.1} GB/s here: at most {bound:.0} tokens/s, of which ours are {:.0} %.\n",
        step_bytes as f64 / 1e6,
        100.0 * ours / bound
    );
    text += &format!(
        "Memory after loading and a self test: {:.2} times the file of {:.1} MB.\n",
        median("small_memory_bytes") / median("weights_bytes"),
        median("weights_bytes") / 1e6
    );
    let ratio_line = |what: &str, a: &str, b: &str| {
        let Estimate { median, low, high } = estimate(&ratios(of(a), of(b)));
        format!("{what}: {median:.2} times one lane ({low:.2} to {high:.2})\n")
    };
    text += "\n";
    text += &ratio_line("Two lanes", "two_lanes_ms", "one_lane_ms");
    text += &ratio_line("Four beams", "four_beams_ms", "one_lane_ms");
    text += "\n| generated tokens | ms a token |\n|---:|---:|\n";
    for place in [16, 64, 128, 256] {
        text += &format!("| {place} | {:.2} |\n", median(&format!("token_{place}_ms")));
    }
    text += "\n| source tokens | encode, ms | ms a token |\n|---:|---:|---:|\n";
    for length in [16, 64, 256, 512] {
        let time = median(&format!("encode_{length}_ms"));
        text += &format!("| {length} | {time:.1} | {:.2} |\n", time / f64::from(length));
    }
    text += "\n| bundled model | |\n|---|---:|\n";
    text += &format!("| worker ready | {:.0} ms |\n", median("worker_ready_ms"));
    text += &format!("| model ready, from its request | {:.0} ms |\n", median("bundled_load_ms"));
    text += &format!(
        "| levels of {:.0} tokens, median and 95th percentile | {:.1} ms, {:.1} ms |\n",
        median("bundled_source_tokens"),
        median("bundled_levels_ms"),
        percentile(of("bundled_levels_ms"), 0.95)
    );
    text += &format!(
        "| first token of a reply, median and 95th percentile | {:.1} ms, {:.1} ms |\n",
        median("bundled_first_token_ms"),
        percentile(of("bundled_first_token_ms"), 0.95)
    );
    text += &format!("| tokens/s | {:.0} |\n", median("bundled_tokens_per_second"));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_seven_rounds_is_all_of_them_and_of_nine_all_but_the_outermost() {
        let seven: Vec<f64> = (1..=7).map(f64::from).collect();
        assert_eq!(estimate(&seven), Estimate { median: 4.0, low: 1.0, high: 7.0 });
        let nine: Vec<f64> = (1..=9).rev().map(f64::from).collect();
        assert_eq!(estimate(&nine), Estimate { median: 5.0, low: 2.0, high: 8.0 });
    }

    #[test]
    fn the_median_of_an_even_count_lies_between_the_middle_two() {
        assert_eq!(estimate(&[4.0, 1.0, 3.0, 2.0]).median, 2.5);
        assert!(estimate(&[]).median.is_nan());
    }

    #[test]
    fn a_percentile_is_a_value_that_was_seen() {
        let samples: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(percentile(&samples, 0.95), 95.0);
    }

    #[test]
    fn ratios_are_of_the_same_round() {
        assert_eq!(ratios(&[2.0, 9.0], &[1.0, 3.0]), [2.0, 3.0]);
    }
}
