//! The exception with the problems of a specification.

use narrows_spec::Problems;
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

create_exception!(
    narrows._native,
    SpecificationError,
    PyValueError,
    "The faults of a specification: tuples of origin, line, column, place, found, remedy."
);

/// The origin, line and column, the place, what was found, and the remedy.
type ProblemFields = (Option<String>, Option<usize>, Option<usize>, String, String, String);

/// The problems as an exception.
pub(crate) fn spec_error(problems: Problems) -> PyErr {
    let fields = problems.0.into_iter().map(|problem| {
        let (line, column) = (problem.at.map(|at| at.line), problem.at.map(|at| at.column));
        let place = problem.place.to_string();
        (problem.origin, line, column, place, problem.found, problem.remedy)
    });
    let fields: Vec<ProblemFields> = fields.collect();
    SpecificationError::new_err((fields,))
}
