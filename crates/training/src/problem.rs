//! An iteration to be timed: how each communication is carried out, and what limits it.

use crate::jobs::Jobs;
use crate::layer::Layer;
use crate::library::{Entry, Library, TopologyId};

/// The way in which a communication is carried out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Use {
    /// First port and the one after the last.
    pub(crate) ports: (u32, u32),
    /// The plan or message.
    pub(crate) entry: Entry,
    /// Whether the ports go back to the resting topology afterwards; if so, that topology on these ports, if there is
    /// one.
    pub(crate) returns: Option<Option<TopologyId>>,
}

/// The start and end of a node.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Event {
    pub(crate) start_s: f64,
    pub(crate) end_s: f64,
    pub(crate) reconfigured: bool,
    /// The delay of the node's start by the change before it.
    pub(crate) exposed_s: f64,
    pub(crate) waits_for: Option<usize>,
}

/// A layer, and the library that says which circuits communications have.
#[derive(Clone, Copy)]
pub(crate) struct Limits<'a> {
    pub(crate) layer: &'a Layer,
    pub(crate) library: &'a Library<'a>,
}

/// An iteration whose plans and ports are chosen, so that only the order of its nodes is open.
#[derive(Clone, Copy)]
pub(crate) struct Problem<'a> {
    pub(crate) jobs: &'a Jobs,
    pub(crate) ports: u32,
    pub(crate) delay_s: f64,
    pub(crate) uses: &'a [Option<Use>],
    /// The optical layer, where it limits circuits.
    pub(crate) limits: Option<Limits<'a>>,
}

impl Problem<'_> {
    /// The classes of ranks at which a communication holds its ports, or those that compute; `place` is in this list.
    pub(crate) fn holders(&self, node: usize) -> &[usize] {
        match &self.uses[node] {
            Some(used) if used.entry.through => &self.jobs.all,
            _ => &self.jobs.jobs[node].classes,
        }
    }

    /// Whether a communication holds a port of a class.
    pub(crate) fn takes(&self, node: usize, class: usize, port: u32) -> bool {
        let holds = |used: &Use| (used.ports.0..used.ports.1).contains(&port);
        self.uses[node].as_ref().is_some_and(holds) && self.holders(node).binary_search(&class).is_ok()
    }
}
