//! Windowed extremes.

#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    time: u32,
    value: u32,
}

/// A windowed maximum that keeps three samples (Nichols; Linux
/// `minmax_running_max`). Time is any counter that never falls, such as rounds.
///
/// It holds the best sample and the best ones of later parts of the window, so that a good
/// successor is available when the best one expires. The result may be slightly below the exact
/// sliding maximum.
#[derive(Clone, Copy, Debug, Default)]
pub struct WindowedMax {
    best: [Sample; 3],
}

impl WindowedMax {
    /// The maximum.
    #[must_use]
    pub const fn get(&self) -> u32 {
        self.best[0].value
    }

    /// Forgets everything but this sample.
    pub fn reset(&mut self, time: u32, value: u32) {
        self.best = [Sample { time, value }; 3];
    }

    /// Takes a sample; the window covers the last `window` units of time.
    #[inline] // senders take a sample with nearly every ACK
    pub fn update(&mut self, window: u32, time: u32, value: u32) {
        let sample = Sample { time, value };
        let [first, second, third] = &mut self.best;
        if value >= first.value || time - third.time > window {
            return self.reset(time, value);
        }
        if value >= second.value {
            (*second, *third) = (sample, sample);
        } else if value >= third.value {
            *third = sample;
        }
        // Nothing changes in the first quarter of the window.
        if time - self.best[0].time > window / 4 {
            self.age(window, sample);
        }
    }

    /// Drops expired samples, and fills the runners-up from later quarters.
    #[inline(never)]
    fn age(&mut self, window: u32, sample: Sample) {
        let [first, second, third] = self.best;
        let age = sample.time - first.time;
        if age > window {
            self.best = [second, third, sample];
            if sample.time - second.time > window {
                self.best = [third, sample, sample];
            }
        } else if second.time == first.time && age > window / 4 {
            self.best = [first, sample, sample];
        } else if third.time == second.time && age > window / 2 {
            self.best[2] = sample;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(samples: &[(u32, u32)]) -> WindowedMax {
        let mut filter = WindowedMax::default();
        for &(time, value) in samples {
            filter.update(10, time, value);
        }
        filter
    }

    #[test]
    fn a_new_maximum_wins_at_once() {
        assert_eq!(feed(&[(0, 5), (1, 3), (2, 9)]).get(), 9);
    }

    #[test]
    fn the_maximum_lasts_for_its_window() {
        let steady: Vec<(u32, u32)> = (1..=10).map(|t| (t, 50)).collect();
        let mut filter = feed(&[(0, 100)]);
        for &(time, value) in &steady {
            filter.update(10, time, value);
            assert_eq!(filter.get(), 100, "at {time}");
        }
        filter.update(10, 11, 50);
        assert_eq!(filter.get(), 50);
    }

    #[test]
    fn a_successor_from_a_later_quarter_takes_over() {
        let filter = feed(&[(0, 100), (3, 80), (6, 60), (11, 10)]);
        assert_eq!(filter.get(), 80);
    }

    #[test]
    fn silence_for_a_window_forgets_everything() {
        assert_eq!(feed(&[(0, 100), (11, 1)]).get(), 1);
    }

    #[test]
    fn it_never_exceeds_and_rarely_misses_the_exact_maximum() {
        let mut state = 12_345_u32;
        let mut history = Vec::new();
        let mut filter = WindowedMax::default();
        let mut misses = 0;
        for time in 0..10_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let value = state >> 16;
            history.push(value);
            filter.update(10, time, value);
            let from = history.len().saturating_sub(11);
            let exact = *history[from..].iter().max().unwrap();
            assert!(filter.get() <= exact, "at {time}");
            misses += u32::from(filter.get() < exact);
        }
        assert!(misses < 2_000, "{misses} of 10000");
    }
}
