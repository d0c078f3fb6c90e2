//! The controls that flows can name: registered ones, and a caller's own.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use narrows_base::registry::Values;
use narrows_cc::{CcConfig, CongestionControl};

use crate::stacks::{Connecting, Ends, MakeEnds};

/// Makes a control for one connection.
pub type Make = dyn Fn(CcConfig) -> Box<dyn CongestionControl> + Send + Sync;

/// The same, given the flow's name.
type MakeFor = dyn Fn(&str, CcConfig) -> Box<dyn CongestionControl> + Send + Sync;

/// The controls of a run by name, registered and own ones, and the stacks of other projects.
///
/// An own control hides a registered one of the same name. It finds the flow's options unchecked in
/// [`CcConfig::options`].
#[derive(Clone, Default)]
pub struct Controls {
    own: BTreeMap<String, Arc<MakeFor>>,
    stacks: BTreeMap<String, Arc<MakeEnds>>,
}

impl Controls {
    /// Only registered controls.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a control that flows call `name`; `make` is called for each connection.
    #[must_use]
    pub fn with<F>(self, name: impl Into<String>, make: F) -> Self
    where
        F: Fn(CcConfig) -> Box<dyn CongestionControl> + Send + Sync + 'static,
    {
        self.with_flow(name, move |_flow, config| make(config))
    }

    /// The same, but `make` also gets the name of the flow.
    #[must_use]
    pub fn with_flow<F>(mut self, name: impl Into<String>, make: F) -> Self
    where
        F: Fn(&str, CcConfig) -> Box<dyn CongestionControl> + Send + Sync + 'static,
    {
        self.own.insert(name.into(), Arc::new(make));
        self
    }

    /// Adds a transport stack that flows call `name`; `make` is called for each flow.
    #[must_use]
    pub fn with_stack<F>(mut self, name: impl Into<String>, make: F) -> Self
    where
        F: Fn(&Connecting) -> Ends + Send + Sync + 'static,
    {
        self.stacks.insert(name.into(), Arc::new(make));
        self
    }

    /// The stack called `name`.
    pub(crate) fn stack(&self, name: &str) -> Option<&MakeEnds> {
        self.stacks.get(name).map(|make| &**make)
    }

    /// Whether there is an own control called `name`.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.own.contains_key(name)
    }

    /// The maker of the control called `name` for the connections of a flow, and its options.
    pub(crate) fn maker(&self, name: &str, flow: &str, options: &Values) -> (Arc<Make>, Values) {
        if let Some(make) = self.own.get(name) {
            let (make, flow) = (Arc::clone(make), flow.to_owned());
            return (Arc::new(move |config| make(&flow, config)), options.clone());
        }
        let (build, options) =
            narrows_cc::complete(name, options).expect("the scenario was checked");
        (Arc::new(build), options)
    }
}

impl fmt::Debug for Controls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (own, stacks) = (self.own.keys(), self.stacks.keys());
        f.debug_struct("Controls").field("own", &own).field("stacks", &stacks).finish()
    }
}
