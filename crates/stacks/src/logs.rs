//! Records of a run's connections beside its tables: TLS secrets and qlogs.

use std::fmt;
use std::io::Write;
use std::sync::Arc;

use crate::keys::Keys;

/// Takes the qlog of a connection.
pub type QlogWriter = Box<dyn Write + Send + Sync>;
/// Opens the qlog of a flow, by its name.
type OpenQlog = dyn Fn(&str) -> QlogWriter + Send + Sync;

/// Where the logs of a run go.
#[derive(Clone, Default)]
pub struct Logs {
    /// The secrets of its connections.
    pub keys: Keys,
    qlog: Option<Arc<OpenQlog>>,
}

impl fmt::Debug for Logs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { keys, qlog } = self;
        f.debug_struct("Logs").field("keys", keys).field("qlog", &qlog.is_some()).finish()
    }
}

impl Logs {
    /// The sending end of each flow with a stack writes its qlog to what `open` returns for the
    /// flow's name: a JSON text sequence, in the version of qlog that the stack has.
    #[must_use]
    pub fn with_qlog<F>(mut self, open: F) -> Self
    where
        F: Fn(&str) -> QlogWriter + Send + Sync + 'static,
    {
        self.qlog = Some(Arc::new(open));
        self
    }

    pub(crate) fn qlog(&self, flow: &str) -> Option<QlogWriter> {
        self.qlog.as_ref().map(|open| open(flow))
    }
}
