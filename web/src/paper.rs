//! What the paper reports (arXiv:2605.13858), to be set beside our own figures. Its validation rows are copies of training rows: its split leaked.

use hormone_t5::analysis::Hormone;

/// How well one hormone's level is predicted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LevelFigures {
    /// Mean squared error.
    pub mse: f64,
    /// Mean absolute error.
    pub mae: f64,
    /// Share within 0.15 of the target.
    pub accuracy: f64,
    /// Largest less smallest mean prediction over the tones.
    pub range: f64,
}

/// A variant of the model that lacks something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ablation {
    /// As in translations and in `runs/ablations.csv`.
    pub name: &'static str,
    /// Mean squared error.
    pub mse: f64,
    /// Share within 0.15.
    pub accuracy: f64,
    /// See [`LevelFigures::range`].
    pub range: f64,
}

/// The paper's figures of one hormone.
pub fn level_figures(hormone: Hormone) -> LevelFigures {
    let (mse, mae, accuracy, range) = match hormone {
        Hormone::Dopamine => (0.024, 0.098, 0.872, 0.88),
        Hormone::Serotonin => (0.031, 0.112, 0.825, 0.81),
        Hormone::Cortisol => (0.019, 0.087, 0.913, 0.89),
        Hormone::Oxytocin => (0.038, 0.124, 0.784, 0.85),
        Hormone::Adrenaline => (0.026, 0.102, 0.857, 0.83),
        Hormone::Endorphins => (0.023, 0.095, 0.881, 0.86),
    };
    LevelFigures { mse, mae, accuracy, range }
}

/// The mean over hormones.
pub fn mean_figures(figures: impl Fn(Hormone) -> LevelFigures) -> LevelFigures {
    let mean = |pick: fn(LevelFigures) -> f64| Hormone::ALL.map(|hormone| pick(figures(hormone))).iter().sum::<f64>() / 6.0;
    LevelFigures {
        mse: mean(|figures| figures.mse),
        mae: mean(|figures| figures.mae),
        accuracy: mean(|figures| figures.accuracy),
        range: mean(|figures| figures.range),
    }
}

/// The paper's ablations.
pub const ABLATIONS: [Ablation; 8] = [
    Ablation { name: "random_kv", mse: 0.089, accuracy: 0.623, range: 0.54 },
    Ablation { name: "detached", mse: 0.312, accuracy: 0.284, range: 0.21 },
    Ablation { name: "no_diversity", mse: 0.041, accuracy: 0.792, range: 0.71 },
    Ablation { name: "no_margin", mse: 0.034, accuracy: 0.817, range: 0.78 },
    Ablation { name: "three_hormones", mse: 0.035, accuracy: 0.831, range: 0.82 },
    Ablation { name: "alpha_low", mse: 0.031, accuracy: 0.842, range: 0.83 },
    Ablation { name: "alpha_high", mse: 0.029, accuracy: 0.838, range: 0.84 },
    Ablation { name: "no_orthogonal_start", mse: 0.052, accuracy: 0.746, range: 0.67 },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_the_hormones_is_the_mean_that_the_paper_prints() {
        let mean = mean_figures(level_figures);
        for (found, printed, unit) in
            [(mean.mse, 0.027, 0.001), (mean.mae, 0.103, 0.001), (mean.accuracy, 0.855, 0.001), (mean.range, 0.85, 0.01)]
        {
            assert!((found - printed).abs() <= unit / 2.0 + 1e-9, "{found} is not {printed}");
        }
    }
}
