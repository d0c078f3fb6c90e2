//! Statements about the connection's state, in the part of Python that scripts use: `assert`,
//! assignments, `print`, and expressions of integers and texts.

mod evaluate;
mod format;
mod object;
mod read;
mod word;

use crate::error::{ScriptError, ScriptPosition};

pub use object::Variables;

/// Statements that were read without mistakes.
#[derive(Clone, Debug, PartialEq)]
pub struct Block(Vec<read::Statement>);

impl Block {
    /// Reads the text between `%{` and `}%`, which begins at `at`.
    ///
    /// # Errors
    /// The first mistake, with its place in the script.
    pub fn parse(text: &str, at: ScriptPosition) -> Result<Self, ScriptError> {
        let start = ScriptPosition { line: at.line, column: at.column + 2 };
        read::statements(&word::words(text, start)?).map(Self)
    }

    /// Runs the statements; what they print is added to `printed`.
    ///
    /// # Errors
    /// The assertion that fails, or why a statement has no value.
    pub fn run(
        &self,
        variables: &mut Variables,
        printed: &mut Vec<String>,
    ) -> Result<(), ScriptError> {
        self.0.iter().try_for_each(|statement| evaluate::run(statement, variables, printed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str) -> Result<Vec<String>, String> {
        let mut variables = Variables::default();
        variables.set("tcpi_snd_cwnd", 10);
        variables.set("tcpi_rtt", 20_000);
        variables.set("tcpi_options", 0b101);
        let mut printed = Vec::new();
        let block =
            Block::parse(text, ScriptPosition { line: 3, column: 5 }).map_err(|e| e.to_string())?;
        block.run(&mut variables, &mut printed).map_err(|e| e.to_string())?;
        Ok(printed)
    }

    #[test]
    fn statements_follow_python() {
        let text = "cwnd = 8; cwnd += 2\n# a comment\nassert tcpi_snd_cwnd == cwnd, tcpi_snd_cwnd\n\
                    assert 5000 <= tcpi_rtt <= 0x9000, 'srtt=%d us' % tcpi_rtt\n\
                    assert (tcpi_options & 4) != 0 and not tcpi_options & 2\n\
                    assert tcpi_snd_cwnd == 1460 - 2 * 3 - 1444; \\\n print('a %d, %s' % (cwnd, 'b'), 7 // 2, -7 // 2, -7 % 4)";
        assert_eq!(run(text), Ok(vec!["a 10, b 3 -4 1".to_owned()]));
    }

    #[test]
    fn failed_assertion_names_values() {
        let error = run(" assert tcpi_snd_cwnd == 12, 'cwnd=%d' % tcpi_snd_cwnd").unwrap_err();
        assert_eq!(
            error,
            "3:15: found \"tcpi_snd_cwnd == 12\" with tcpi_snd_cwnd = 10 (cwnd=10); an assertion that holds is needed"
        );
    }

    #[test]
    fn mistakes_have_place_and_remedy() {
        let cases = [
            ("assert tcpi_cwnd == 1", "3:14: found \"tcpi_cwnd\"; \"tcpi_snd_cwnd\" perhaps"),
            ("x = (1 + 2", "3:17: found the end of the code; \")\" is needed"),
            ("assert 1 ==", "3:18: found the end of the code; a value is needed"),
            ("import os", "3:7: found \"import\"; assert, print(...) or an assignment is needed"),
            ("x = 1 // 0", "3:16: found a division by zero; another divisor is needed"),
            ("x = 1\ny", "4:1: found \"y\"; assert, print(...) or"),
        ];
        for (text, expected) in cases {
            let error = run(text).unwrap_err();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }
}
