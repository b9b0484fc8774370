//! Texts written for this project as examples: dialogues and exchanges.

use hormone_t5::{HormoneLevels, Tone};
use rand::Rng;
use rand::seq::{IndexedRandom, IteratorRandom};
use rand_chacha::ChaCha8Rng;

use super::{Example, FAINT_ALPHA, Kind, MILD_ALPHA, MixtureConfig, STRONG_ALPHA, WATCHED_MILD_ALPHA, WATCHED_STRONG_ALPHA, jittered};
use crate::dialogues::{Dialogue, Exchange, SurfaceShares, Voice, vary, with_other_name};

/// All that is trained on.
#[derive(Clone, Debug)]
pub(super) struct OwnTexts {
    dialogues: Vec<Dialogue>,
    /// Those with a reply come first.
    exchanges: Vec<Exchange>,
    answered: usize,
    /// Replies with the levels that they show.
    voiced: Vec<(String, HormoneLevels)>,
}

impl OwnTexts {
    pub(super) fn new(dialogues: Vec<Dialogue>, exchanges: Vec<Exchange>) -> Self {
        let (answered, messages): (Vec<Exchange>, Vec<Exchange>) = exchanges.into_iter().partition(|exchange| !exchange.replies.is_empty());
        let voiced = voiced(&dialogues, &answered);
        Self { dialogues, answered: answered.len(), exchanges: [answered, messages].concat(), voiced }
    }

    /// A message.
    pub(super) fn message(&self, rng: &mut ChaCha8Rng) -> (String, HormoneLevels) {
        let place = rng.random_range(0..self.dialogues.len() + self.exchanges.len());
        let (input, tone) = match self.dialogues.get(place) {
            Some(dialogue) => (&dialogue.input, dialogue.tone),
            None => (&self.exchanges[place - self.dialogues.len()].input, self.exchanges[place - self.dialogues.len()].tone),
        };
        (input.clone(), tone.levels())
    }

    /// A reply, which shows its voice as a message would.
    pub(super) fn voiced(&self, rng: &mut ChaCha8Rng) -> (String, HormoneLevels) {
        self.voiced[rng.random_range(0..self.voiced.len())].clone()
    }

    /// A message with one of its replies, under the levels and the strength that it was written for.
    pub(super) fn reply(&self, config: &MixtureConfig, rng: &mut ChaCha8Rng) -> Example {
        if self.answered > 0 && rng.random_bool(config.exchanges) {
            return self.exchange(config, rng);
        }
        let dialogue = &self.dialogues[rng.random_range(0..self.dialogues.len())];
        let own = dialogue.tone;
        let others: Vec<Tone> = dialogue.other_tones().collect();
        let (reply, reply_tone, alpha) = match (others.choose(rng), rng.random::<f64>()) {
            (Some(other), draw) if draw < config.other_tones => {
                (dialogue.strong_reply(*other).unwrap_or_default(), Some(*other), Some(rng.random_range(STRONG_ALPHA)))
            }
            _ => match rng.random::<f64>() {
                draw if draw < config.flat => (dialogue.flat.as_str(), None, Some(0.0)),
                draw if draw < config.flat + config.learned_alpha => (dialogue.strong.as_str(), None, None),
                _ if rng.random_bool(0.4) => (dialogue.mild.as_str(), Some(own), Some(rng.random_range(MILD_ALPHA))),
                _ => (dialogue.strong.as_str(), Some(own), Some(rng.random_range(STRONG_ALPHA))),
            },
        };
        written(&dialogue.input, own, reply, reply_tone, alpha, config, rng)
    }

    fn exchange(&self, config: &MixtureConfig, rng: &mut ChaCha8Rng) -> Example {
        let exchange = &self.exchanges[rng.random_range(0..self.answered)];
        let (voice, reply) = exchange.replies.iter().choose(rng).expect("answered exchanges have a reply");
        let (reply_tone, alpha) = match *voice {
            // At a strength near 0 any levels leave a reply as flat as none.
            Voice::Flat if rng.random_bool(config.faint_flat) => {
                (Some(Tone::ALL[rng.random_range(0..Tone::ALL.len())]), Some(rng.random_range(FAINT_ALPHA)))
            }
            Voice::Flat => (None, Some(0.0)),
            Voice::Mild(tone) => (Some(tone), Some(rng.random_range(MILD_ALPHA))),
            Voice::Strong(tone) if tone == exchange.tone && rng.random_bool(config.learned_alpha) => (Some(tone), None),
            Voice::Strong(tone) => (Some(tone), Some(rng.random_range(STRONG_ALPHA))),
        };
        written(&exchange.input, exchange.tone, reply, reply_tone, alpha, config, rng)
    }
}

impl Example {
    /// An exchange as it was written, each reply under its voice's levels; the message's levels are asked for once.
    pub(super) fn of_exchange(exchange: &Exchange) -> Vec<Self> {
        if exchange.replies.is_empty() {
            let (source, target_levels) = (exchange.input.clone(), Some(exchange.tone.levels()));
            return vec![Self {
                source,
                target: None,
                target_levels,
                target_tones: None,
                reply_levels: None,
                alpha: Some(0.0),
                kind: Kind::Dialogue,
            }];
        }
        let replies = exchange.replies.iter().enumerate();
        let examples = replies.map(|(index, (voice, reply))| Self {
            source: exchange.input.clone(),
            target: Some(reply.clone()),
            target_levels: (index == 0).then(|| exchange.tone.levels()),
            target_tones: None,
            reply_levels: voice.tone().map(Tone::levels),
            alpha: Some(match voice {
                Voice::Flat => 0.0,
                Voice::Mild(_) => WATCHED_MILD_ALPHA,
                Voice::Strong(_) => WATCHED_STRONG_ALPHA,
            }),
            kind: Kind::Dialogue,
        });
        examples.collect()
    }
}

/// A written reply of `reply_tone` (flat where there is none) to a message of tone `own`.
fn written(
    message: &str,
    own: Tone,
    reply: &str,
    reply_tone: Option<Tone>,
    alpha: Option<f32>,
    config: &MixtureConfig,
    rng: &mut ChaCha8Rng,
) -> Example {
    // Predicted levels must serve as well as given ones, where both say the same.
    let predicted = reply_tone == Some(own) && (alpha.is_none() || rng.random_bool(config.predicted_levels));
    let reply_levels = reply_tone.filter(|_| !predicted).map(|tone| jittered(tone, config.level_jitter, rng));
    let mut texts = with_other_name(&[message, reply], rng).into_iter();
    let source = vary(&texts.next().unwrap_or_default(), SurfaceShares::LIGHT, rng);
    Example {
        source,
        target: texts.next(),
        target_levels: Some(own.levels()),
        target_tones: None,
        reply_levels,
        alpha,
        kind: Kind::Dialogue,
    }
}

/// All replies with the levels that they show.
pub(super) fn voiced(dialogues: &[Dialogue], exchanges: &[Exchange]) -> Vec<(String, HormoneLevels)> {
    let of_dialogues = dialogues.iter().flat_map(|dialogue| {
        let strong = Tone::ALL.into_iter().filter_map(|tone| Some((dialogue.strong_reply(tone)?.to_string(), tone.levels())));
        strong.chain([(dialogue.flat.clone(), Voice::Flat.levels()), (dialogue.mild.clone(), Voice::Mild(dialogue.tone).levels())])
    });
    let of_exchanges = exchanges.iter().flat_map(|exchange| &exchange.replies).map(|(voice, reply)| (reply.clone(), voice.levels()));
    of_dialogues.chain(of_exchanges).collect()
}
