//! Learning rates over time.

/// How the learning rate moves; every shape gives a factor of the peak rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Schedule {
    /// Rises for `warmup_steps`, then falls along a cosine to `final_factor` at `total_steps`.
    WarmupCosine { warmup_steps: u64, total_steps: u64, final_factor: f64 },
    /// Falls along a cosine to 0 again and again, each time `multiplier` times as long: the paper's, where a period is 10 epochs first.
    WarmRestarts { first_period_steps: u64, multiplier: u64 },
}

impl Schedule {
    /// Factor of the peak rate at `step`, counted from 0.
    pub(crate) fn factor(self, step: u64) -> f64 {
        match self {
            Self::WarmupCosine { warmup_steps, .. } if step < warmup_steps => (step + 1) as f64 / warmup_steps as f64,
            Self::WarmupCosine { warmup_steps, total_steps, final_factor } => {
                let share = (step - warmup_steps) as f64 / total_steps.saturating_sub(warmup_steps).max(1) as f64;
                final_factor + (1.0 - final_factor) * falling_cosine(share.min(1.0))
            }
            Self::WarmRestarts { first_period_steps, multiplier } => {
                let (mut start, mut period) = (0, first_period_steps.max(1));
                while step >= start + period {
                    start += period;
                    period *= multiplier.max(1);
                }
                falling_cosine((step - start) as f64 / period as f64)
            }
        }
    }
}

/// From 1 at 0 to 0 at 1.
fn falling_cosine(share: f64) -> f64 {
    0.5 * (1.0 + (std::f64::consts::PI * share).cos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warm_up_rises_to_the_peak_and_the_cosine_falls_to_the_final_factor() {
        let schedule = Schedule::WarmupCosine { warmup_steps: 10, total_steps: 110, final_factor: 0.1 };
        assert!((schedule.factor(0) - 0.1).abs() < 1e-9);
        assert!((schedule.factor(10) - 1.0).abs() < 1e-9);
        assert!((schedule.factor(60) - 0.55).abs() < 1e-9);
        assert!((schedule.factor(500) - 0.1).abs() < 1e-9);
    }

    #[test]
    fn warm_restarts_begin_again_at_the_peak_with_doubled_periods() {
        let schedule = Schedule::WarmRestarts { first_period_steps: 10, multiplier: 2 };
        for start in [0, 10, 30, 70] {
            assert!((schedule.factor(start) - 1.0).abs() < 1e-9, "step {start}");
        }
        assert!(schedule.factor(29) < 0.01);
    }
}
