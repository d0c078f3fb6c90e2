//! The native module of the Python package: `narrows._native`.
//!
//! It holds no logic: JSON in, Arrow tables out.

mod analyze;
mod capture;
mod capture_thread;
mod column;
mod control;
mod environments;
mod long_table;
mod metrics;
mod panics;
mod parquet_file;
mod registry;
mod run;
mod scripts;
mod simulation;
mod small;
mod spec;
mod spill;
mod stacks;
mod table;

use pyo3::prelude::*;

/// The simulator of narrows.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::analyze::{CaptureError, CaptureOutput, analyze};
    #[pymodule_export]
    use super::control::{
        AckSample, CongestionEvent, Connection, ControlError, DeliveredSample, LostPacket,
        RustControl, SlowCallWarning, StartEvent, UndoEvent,
    };
    #[pymodule_export]
    use super::environments::Environments;
    #[pymodule_export]
    use super::metrics::{
        OfferedCapacity, RunMetrics, class_label, flow_classes, growth, jain, offers, percentile,
        shares, two_way_ns, weighted_quantile, weighted_statistics,
    };
    #[pymodule_export]
    use super::registry::{
        bbr_transitions, ccas, code_points, distributions, impairments, profiles, queues,
        red_thresholds, services, workloads,
    };
    #[pymodule_export]
    use super::run::{RunOutput, ScenarioError, run};
    #[pymodule_export]
    use super::scripts::{ScriptOutput, play_script};
    #[pymodule_export]
    use super::simulation::Simulation;
    #[pymodule_export]
    use super::small::table;
    #[pymodule_export]
    use super::spec::{
        SpecOutput, SpecSource, SpecificationError, StudyOutput, format_duration, leaves, nearest,
        parse_place, presets, quantity, quote, schema, sections, to_toml,
    };
    #[pymodule_export]
    use super::table::{ArrowTable, read_parquet, tables};

    /// The version of the engine; results are stored with it.
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "a name of Python's")]
    const engine_version: &str = env!("CARGO_PKG_VERSION");

    /// The most characters of a name in a specification.
    #[pymodule_export]
    const MAX_NAME: usize = narrows_spec::limits::MAX_NAME;

    /// The longest duration of a specification, in ns.
    #[pymodule_export]
    const MAX_DURATION_NS: u64 = narrows_spec::limits::MAX_DURATION_NS;

    /// A probability of 1 in the tables of distributions.
    #[pymodule_export]
    const CERTAIN: u64 = narrows_spec::law::CERTAIN;

    /// Keys of a flow that describe its own hosts.
    #[pymodule_export]
    const OWN_HOST: [&str; 10] = narrows_metrics::classes::OWN_HOST;

    /// The most classes of flows of a control.
    #[pymodule_export]
    const MAX_CLASSES: usize = narrows_metrics::classes::MOST;

    /// The statistics of a link's queue in its summary.
    #[pymodule_export]
    const QUEUE_STATISTICS: [&str; 5] = narrows_metrics::links::QUEUE_STATISTICS;

    /// The statistics of a flow's round-trip times in its summary.
    #[pymodule_export]
    const RTT_STATISTICS: [&str; 5] = narrows_metrics::flows::RTT_STATISTICS;

    /// The statistics of completion times in summaries.
    #[pymodule_export]
    const COMPLETION_STATISTICS: [&str; 5] = narrows_metrics::completions::COMPLETION_STATISTICS;

    /// The statistics of slowdowns in summaries.
    #[pymodule_export]
    const SLOWDOWN_STATISTICS: [&str; 4] = narrows_metrics::completions::SLOWDOWN_STATISTICS;

    /// The ranges of the sizes of transfers: name, title, most bytes.
    #[pymodule_export]
    const SIZES: [(&str, &str, f64); 4] = narrows_metrics::completions::SIZES;

    /// Workloads whose transfers never end.
    #[pymodule_export]
    const ENDLESS: [&str; 3] = narrows_metrics::completions::ENDLESS;

    /// The most flows of a run.
    #[pymodule_export]
    const MAX_FLOWS: u64 = narrows_spec::limits::MAX_FLOWS;

    /// The most trials of a combination.
    #[pymodule_export]
    const MAX_TRIALS: u64 = narrows_spec::limits::MAX_TRIALS;
}
