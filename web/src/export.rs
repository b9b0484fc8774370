//! The conversation as a file for people: Markdown to read, CSV of the levels to reckon with. The session itself is saved as JSON
//! ([`crate::recorded`]).

use hormone_t5::GenerationConfig;
use hormone_t5::analysis::Hormone;
use hormone_t5::generation::Decoding;

use crate::i18n::Locale;
use crate::protocol::Lane;
use crate::session::{Reply, ReplyState, Turn};

/// The conversation as Markdown, in the visitor's language.
pub fn to_markdown(locale: Locale, turns: &[Turn]) -> String {
    let mut text = format!("# {}\n\n{}\n", locale.text("page.title"), locale.text("about.abstraction"));
    for (index, turn) in turns.iter().enumerate() {
        text.push_str(&format!("\n## {}. {}\n\n", index + 1, one_line(&turn.text)));
        if let Some(model) = &turn.model {
            let kind = if turn.recorded { locale.text("lane.recorded") } else { locale.text("export.live") };
            text.push_str(&format!("{}: {model} ({kind})\n\n", locale.text("model.title")));
        }
        if let Some(analysis) = &turn.analysis {
            text.push_str(&format!("| {} | {} |\n|---|---|\n", locale.text("hormones.title"), locale.text("export.level")));
            for hormone in Hormone::ALL {
                let name = locale.text(&format!("hormone.{}", hormone.name()));
                text.push_str(&format!("| {name} | {} |\n", locale.number(f64::from(analysis.levels.get(hormone)), 2)));
            }
            text.push('\n');
        }
        for reply in turn.replies.iter().filter(|reply| is_told(reply)) {
            let quoted = if reply.text.trim().is_empty() { locale.text("lane.silence") } else { reply.text.trim().replace('\n', "\n> ") };
            let lane = locale.text(&format!("lane.{}", reply.lane.name()));
            let stopped = if reply.state == ReplyState::Stopped { format!(", {}", locale.text("lane.stopped")) } else { String::new() };
            text.push_str(&format!("**{lane}** ({}{stopped})\n\n> {quoted}\n\n", settings(locale, turn, reply)));
        }
    }
    text
}

/// Whether a reply came to an end of its own or the visitor's: the rest are no replies.
fn is_told(reply: &Reply) -> bool {
    matches!(reply.state, ReplyState::Finished { .. } | ReplyState::Stopped)
}

/// How a reply was made, in a few words: strength and choice of words.
pub fn settings(locale: Locale, turn: &Turn, reply: &Reply) -> String {
    let learned = turn.analysis.as_ref().map(|analysis| analysis.learned_alpha);
    let alpha = reply.config.alpha.or(learned).map(|alpha| locale.format("lane.alpha", &[("alpha", &locale.number(f64::from(alpha), 2))]));
    let pinned = reply.config.levels.iter().any(Option::is_some).then(|| locale.text("lane.pinned"));
    [alpha, Some(decoding(locale, reply)), pinned].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// How the words of a reply were chosen.
pub fn decoding(locale: Locale, reply: &Reply) -> String {
    match reply.config.decoding {
        Decoding::Greedy => locale.text("decoding.greedy"),
        Decoding::Sampling { .. } => locale.format("export.sampling", &[("seed", &reply.config.seed.to_string())]),
        Decoding::Beams { num_beams, .. } => locale.format("export.beams", &[("count", &num_beams.to_string())]),
    }
}

/// One line for each message that was read: RFC 4180, numbers with a point in every language. What acted is that of the visitor's own lane where there
/// is one, else of the modulated one; the seed stands where chance had a part.
pub fn levels_csv(turns: &[Turn]) -> String {
    let names = Hormone::ALL.map(Hormone::name).join(",");
    let mut csv = format!(
        "message,text,model,recorded,tau,nearest_tone,distance,{names},set_by_hand,alpha,decoding,seed,baseline,modulated,own,stopped\r\n"
    );
    for (index, turn) in turns.iter().enumerate() {
        let Some(analysis) = &turn.analysis else { continue };
        let told = |lane: Lane| turn.reply(lane).filter(|reply| is_told(reply));
        let config = told(Lane::Own).or(told(Lane::Modulated)).map(|reply| &reply.config);
        let alpha = config.and_then(|config| config.alpha).unwrap_or(analysis.learned_alpha);
        let (decoding, seed) = config.map_or_else(Default::default, |config| (decoding_name(config), seed(config)));
        let replies = [Lane::Baseline, Lane::Modulated, Lane::Own].map(|lane| told(lane).map_or("", |reply| reply.text.as_str()));
        let stopped = turn.replies.iter().filter(|reply| reply.state == ReplyState::Stopped).map(|reply| reply.lane.name());
        let mut cells = vec![
            (index + 1).to_string(),
            turn.text.clone(),
            turn.model.clone().unwrap_or_default(),
            turn.recorded.to_string(),
            turn.attention_temperature.map(|tau| format!("{tau:.2}")).unwrap_or_default(),
            analysis.tone.name().to_string(),
            format!("{:.4}", analysis.tone.levels().distance(analysis.levels)),
        ];
        cells.extend(analysis.levels.to_array().map(|level| format!("{level:.4}")));
        cells.extend([config.map(set_by_hand).unwrap_or_default(), format!("{alpha:.3}"), decoding, seed]);
        cells.extend(replies.map(str::to_string));
        cells.push(stopped.collect::<Vec<_>>().join(" "));
        csv.push_str(&cells.iter().map(|cell| quote(cell)).collect::<Vec<_>>().join(","));
        csv.push_str("\r\n");
    }
    csv
}

/// Levels that the visitor set, as in "cortisol=1.00 oxytocin=0.00".
fn set_by_hand(config: &GenerationConfig) -> String {
    let set = Hormone::ALL.into_iter().zip(config.levels).filter_map(|(hormone, level)| Some(format!("{}={:.2}", hormone.name(), level?)));
    set.collect::<Vec<_>>().join(" ")
}

fn decoding_name(config: &GenerationConfig) -> String {
    match config.decoding {
        Decoding::Greedy => "greedy".to_string(),
        Decoding::Sampling { temperature, .. } => format!("sampling temperature={temperature}"),
        Decoding::Beams { num_beams, .. } => format!("beams={num_beams}"),
    }
}

fn seed(config: &GenerationConfig) -> String {
    if matches!(config.decoding, Decoding::Sampling { .. }) { config.seed.to_string() } else { String::new() }
}

fn quote(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_string() }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controls::Settings;
    use crate::reading::tests::example;

    fn turn(text: &str) -> Turn {
        let mut turn = Turn::new(1, text.into(), Some(example().into()), Vec::new());
        let settings = Settings { pins: [Some(1.0), None, None, None, None, None], ..Settings::default() };
        turn.replies = [Lane::Baseline, Lane::Modulated].map(|lane| Reply::finished(settings.lane_request(lane), "Good for you.")).into();
        turn.model = Some("tiny".into());
        turn
    }

    #[test]
    fn markdown_holds_message_levels_replies_and_how_they_were_made() {
        let text = to_markdown(Locale::Nl, &[turn("so\ngood!")]);
        for part in [
            "## 1. so good!",
            "tiny",
            "| Dopamine | 0,90 |",
            "> Good for you.",
            "α = 0,00, greedy",
            "α = 0,25, greedy, waarden zelf ingesteld",
        ] {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
    }

    #[test]
    fn csv_has_as_many_cells_in_every_row_and_quotes_what_needs_it() {
        let csv = levels_csv(&[turn("plain"), turn("he said \"hi\", twice")]);
        let lines: Vec<&str> = csv.lines().collect();
        let cells = |line: &str| line.split(',').count();
        assert_eq!(lines.len(), 3);
        assert_eq!(cells(lines[1]), cells(lines[0]));
        assert!(lines[1].contains("excited,") && lines[1].contains("0.9000,0.8000,0.1000"), "{}", lines[1]);
        assert!(lines[2].contains("\"he said \"\"hi\"\", twice\""), "{}", lines[2]);
    }

    #[test]
    fn a_row_says_what_was_set_by_hand_and_replies_that_were_broken_off_are_no_replies() {
        let mut turn = turn("x");
        let row = |turn: &Turn| levels_csv(std::slice::from_ref(turn)).lines().nth(1).unwrap_or_default().to_string();
        assert!(row(&turn).contains(",dopamine=1.00,0.250,greedy,,Good for you.,Good for you.,,"), "{}", row(&turn));
        turn.replies[0].state = ReplyState::Failed;
        turn.replies[1].state = ReplyState::Stopped;
        assert!(row(&turn).ends_with(",,Good for you.,,modulated"), "{}", row(&turn));
        let markdown = to_markdown(Locale::En, std::slice::from_ref(&turn));
        assert!(!markdown.contains("**Baseline**") && markdown.contains("levels set by hand, stopped)"), "{markdown}");
    }

    #[test]
    fn messages_that_were_not_read_have_no_row() {
        let unread = Turn::new(1, "unread".into(), None, Vec::new());
        assert_eq!(levels_csv(&[unread]).lines().count(), 1);
    }
}
