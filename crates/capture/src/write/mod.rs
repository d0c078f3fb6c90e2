//! Capture files and event logs of a run.
