//! Values chosen by a byte, for fuzzing with everything that a registry allows.

use super::parameter::{Bounds, Parameter, ParameterDefault, Unit};
use super::value::Value;

impl Parameter {
    /// A value for the parameter, or none to keep its default, as for the lower half of the bytes.
    /// The bounds are reached; steps and relations between values may be broken.
    #[must_use]
    pub fn draw(&self, byte: u8) -> Option<Value> {
        let step = byte.checked_sub(128)?;
        if step == 127 && self.default == ParameterDefault::Off {
            return Some(Value::Off);
        }
        match (self.unit, self.bounds) {
            (Unit::Flag, _) => Some(Value::Flag(step % 2 == 1)),
            (Unit::Word(words), _) => Some(words[usize::from(step) % words.len()].into()),
            (_, Bounds::Whole { least, most, .. }) => Some(Value::Whole(whole(least, most, step))),
            (_, Bounds::Number { least, most }) => {
                let share = f64::from(step.min(126)) / 126.0;
                Some(Value::Number(least + (most.min(1_000.0) - least) * share))
            }
        }
    }
}

/// 0, 1, 2, 4 and so on above the minimum, or the maximum.
fn whole(least: u64, most: u64, step: u8) -> u64 {
    let above = if step > 40 { most.min(1 << 40) } else { (1_u64 << step) >> 1 };
    least.saturating_add(above).min(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(parameter: &Parameter) -> Vec<Value> {
        (0..=255).filter_map(|byte| parameter.draw(byte)).collect()
    }

    #[test]
    fn bytes_reach_the_bounds_and_the_words() {
        let share = all(&Parameter::share("p", ParameterDefault::Number(0.5), ""));
        assert_eq!((&share[0], &share[126]), (&Value::Number(0.0), &Value::Number(1.0)));
        let whole = all(&Parameter::whole("w", ParameterDefault::Off, "").at_least(3));
        let highest = Value::Whole(u64::from(u32::MAX));
        assert_eq!(
            (&whole[0], &whole[100], &whole[127]),
            (&Value::Whole(3), &highest, &Value::Off)
        );
        let words = all(&Parameter::word("k", &["a", "b"], "a", ""));
        assert_eq!(words.len(), 128);
        assert!(["a", "b"].iter().all(|&word| words.contains(&word.into())));
        assert!(all(&Parameter::flag("f", true, "")).contains(&Value::Flag(false)));
    }
}
