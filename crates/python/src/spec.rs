//! Specifications and studies for Python: texts in, checked scenarios or problems out.

mod check;
mod error;
pub(crate) mod inputs;
mod words;

use narrows_spec::{
    Assignment, Design, DesignPoint, Node, Place, Problems, Source, Specification, Study,
    canonical_json,
};
use pyo3::prelude::*;
use serde_json::{Value, json};

use error::spec_error;
use inputs::PythonInputs;

pub use error::SpecificationError;
pub use words::{
    format_duration, leaves, nearest, parse_place, presets, quantity, quote, schema, sections,
    to_toml,
};

/// A specification or a study, with changes.
#[pyclass(frozen, module = "narrows._native")]
pub struct SpecSource {
    source: Source,
    /// True if the text was JSON.
    json: bool,
}

#[pymethods]
impl SpecSource {
    /// The document in a text, which is TOML, or JSON that a program wrote.
    ///
    /// `name` replaces a missing name, `file` is the file of the text. A change is a text
    /// `PLACE=VALUE` and the option that gave it.
    #[new]
    #[pyo3(signature = (text, name, file=None, changes=Vec::new(), json=false))]
    fn new(
        text: &str,
        name: &str,
        file: Option<&str>,
        changes: Vec<(String, String)>,
        json: bool,
    ) -> PyResult<Self> {
        let document = if json { Node::from_json(text) } else { Node::from_toml(text) };
        let in_file = |mut problems: Problems| {
            for problem in &mut problems.0 {
                problem.origin = file.map(str::to_owned);
            }
            spec_error(problems)
        };
        let document = document.map_err(in_file)?;
        let changes: Result<_, _> =
            changes.iter().map(|(text, origin)| Assignment::parse(text, origin)).collect();
        Source::new(&document, changes.map_err(spec_error)?, name, file)
            .map_err(spec_error)
            .map(|source| Self { source, json })
    }

    /// An equivalent TOML text, if the original text isn't one.
    fn renewed_text(&self) -> Option<String> {
        if self.json { Some(self.source.to_toml()) } else { self.source.renewed_text() }
    }

    /// The checked specification.
    ///
    /// `file` returns the text of a file by its name, or raises ValueError; `control` returns the
    /// name and the text of an own control's module by its name and options, or raises ValueError
    /// with tuples of "cca" or "options", what was found, and what would be right. `also` names
    /// further controls of the back end. `directory` returns the specification's directory if the
    /// programs that it names may run, or raises ValueError with what was found and what would be
    /// right.
    fn specification(
        &self,
        py: Python<'_>,
        file: Py<PyAny>,
        control: Py<PyAny>,
        also: Vec<String>,
        directory: Py<PyAny>,
    ) -> PyResult<SpecOutput> {
        let inputs = PythonInputs::new(file, control, also, directory);
        let read = self.source.read(&inputs);
        inputs.reraise(py)?;
        read.map(SpecOutput).map_err(spec_error)
    }

    /// The study.
    fn study(&self) -> PyResult<StudyOutput> {
        let study = Study::read(&self.source).map_err(spec_error)?;
        Ok(StudyOutput { study, points: Vec::new() })
    }
}

/// A checked specification.
#[pyclass(frozen, module = "narrows._native")]
pub struct SpecOutput(Specification);

#[pymethods]
impl SpecOutput {
    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// The number of runs.
    #[getter]
    fn trials(&self) -> u64 {
        self.0.trials
    }

    /// The class of each flow, by id: the name of its entry, or its control and how it differs.
    #[getter]
    fn classes(&self) -> Vec<String> {
        narrows_metrics::classes::names(&json!(self.0.scenario), &self.0.groups)
    }

    /// The checks of the results, as JSON.
    #[getter]
    fn checks(&self) -> String {
        Value::Array(self.0.checks.iter().map(check::to_json).collect()).to_string()
    }

    /// The scenario of the trial with this number, from 1 on, as canonical JSON.
    fn scenario(&self, trial: u64) -> String {
        self.0.canonical(trial)
    }
}

/// A study.
#[pyclass(module = "narrows._native")]
pub struct StudyOutput {
    study: Study,
    points: Vec<DesignPoint>,
}

#[pymethods]
impl StudyOutput {
    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.study.name
    }

    /// "grid", "random" or "lhs".
    #[getter]
    fn design(&self) -> &'static str {
        match self.study.design {
            Design::Grid => "grid",
            Design::Random(_) => "random",
            Design::LatinHypercube(_) => "lhs",
        }
    }

    /// The axes: place, values as a JSON list, and the number of the group.
    #[getter]
    fn axes(&self) -> Vec<(String, String, usize)> {
        let groups = self.study.groups.iter().enumerate();
        let axes = groups.flat_map(|(number, group)| group.iter().map(move |axis| (number, axis)));
        axes.map(|(number, axis)| {
            let values: Vec<_> = axis.values.iter().map(Node::to_json).collect();
            (axis.place.to_string(), canonical_json(&values), number)
        })
        .collect()
    }

    /// The rule for enough trials: metric, width, whether it is a part of the mean, maximum trials.
    #[getter]
    fn until(&self) -> Option<(String, f64, bool, u64)> {
        let until = self.study.until.clone()?;
        Some((until.metric, until.within, until.relative, until.max_trials))
    }

    /// The combinations, each as a JSON list of pairs of a place and a value.
    fn points(&mut self) -> PyResult<Vec<String>> {
        self.points = self.study.points().map_err(spec_error)?;
        let pair = |(place, node): &(Place, Node)| json!([place.to_string(), node.to_json()]);
        let point =
            |point: &DesignPoint| canonical_json(&point.iter().map(pair).collect::<Vec<_>>());
        Ok(self.points.iter().map(point).collect())
    }

    /// The specification of the combination with this number, from 0 on; the other arguments are
    /// those of `SpecSource.specification`.
    #[expect(clippy::too_many_arguments, reason = "Python calls it")]
    fn specification(
        &self,
        py: Python<'_>,
        point: usize,
        file: Py<PyAny>,
        control: Py<PyAny>,
        also: Vec<String>,
        directory: Py<PyAny>,
    ) -> PyResult<SpecOutput> {
        let inputs = PythonInputs::new(file, control, also, directory);
        let read = self.study.specification(&self.points[point], &inputs);
        inputs.reraise(py)?;
        read.map(SpecOutput).map_err(spec_error)
    }
}
