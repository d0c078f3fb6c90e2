//! The controls that flows can name: registered ones, and a caller's own.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use narrows_base::registry::Values;
use narrows_cc::{CcConfig, CongestionControl};
use narrows_tcp::ends::Ends;

use crate::stacks::{Connecting, MakeEnds};

/// Makes a control for one connection.
pub type ControlFn = dyn Fn(CcConfig) -> Box<dyn CongestionControl> + Send + Sync;

/// Makes a control for one connection of the flow with this name.
type FlowControlFn = dyn Fn(&str, CcConfig) -> Box<dyn CongestionControl> + Send + Sync;

/// The controls of a run by name, registered and own ones, and the stacks of other projects.
///
/// An own control hides a registered one of the same name. It finds the flow's options unchecked in
/// [`CcConfig::options`].
#[derive(Clone, Default)]
pub struct Controls {
    own: BTreeMap<String, Arc<FlowControlFn>>,
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

    /// Adds a control as [`Self::with`] does; `make` also gets the name of the flow.
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

    /// Returns `true` if an own control is called `name`.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.own.contains_key(name)
    }

    /// The maker of an own control called `name` for the connections of a flow.
    fn own_maker(&self, name: &str, flow: &str) -> Option<Arc<ControlFn>> {
        let (make, flow) = (Arc::clone(self.own.get(name)?), flow.to_owned());
        Some(Arc::new(move |config| make(&flow, config)))
    }
}

/// Makes the controls of a flow's connections; with their options.
#[derive(Clone)]
pub(crate) struct Maker {
    pub(crate) make: Arc<ControlFn>,
    pub(crate) options: Arc<Values>,
}

/// The makers of a run's flows. Flows of a registered control that have the same options share
/// one, since all options of a thousand flows would take more room than the flows.
pub(crate) struct Makers<'a> {
    controls: &'a Controls,
    /// The latest of each registered control, with the options that the flow gave.
    latest: BTreeMap<&'a str, (&'a Values, Maker)>,
}

impl<'a> Makers<'a> {
    pub(crate) fn new(controls: &'a Controls) -> Self {
        Self { controls, latest: BTreeMap::new() }
    }

    /// The maker of the control called `name` for a flow with these options.
    pub(crate) fn maker(&mut self, name: &'a str, flow: &str, options: &'a Values) -> Maker {
        if let Some(make) = self.controls.own_maker(name, flow) {
            return Maker { make, options: Arc::new(options.clone()) };
        }
        if let Some((given, maker)) = self.latest.get(name)
            && *given == options
        {
            return maker.clone();
        }
        let (build, complete) =
            narrows_cc::complete(name, options).expect("the scenario was checked");
        let maker = Maker { make: Arc::new(build), options: Arc::new(complete) };
        self.latest.insert(name, (options, maker.clone()));
        maker
    }
}

impl fmt::Debug for Controls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (own, stacks) = (self.own.keys(), self.stacks.keys());
        f.debug_struct("Controls").field("own", &own).field("stacks", &stacks).finish()
    }
}
