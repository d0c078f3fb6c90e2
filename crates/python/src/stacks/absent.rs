//! A build without stacks.

use std::io;

use narrows_sim::Controls;
use narrows_spec::scenario::Scenario;

use crate::capture::CaptureRequest;

/// No logs.
#[derive(Debug, Default)]
pub struct NoStackLogs(());

impl NoStackLogs {
    pub const fn new(_: &Scenario, _: Option<&CaptureRequest>) -> Self {
        Self(())
    }

    pub const fn with_stacks(&self, controls: Controls) -> Controls {
        controls
    }

    pub const fn finish(self) -> io::Result<Vec<(String, u64)>> {
        Ok(Vec::new())
    }
}
