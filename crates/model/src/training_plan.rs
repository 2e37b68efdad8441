//! A planned training iteration: when every node runs, on which ports, and by which plan.

use crate::{Bound, Error, Fabric, Plan, Result, Topology, Workload};

/// The times, plan and ports of a node of the workload.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingEvent {
    /// Start, s from the beginning of the iteration.
    pub start_s: f64,
    /// End, s.
    pub end_s: f64,
    /// Index of the plan that each group carries out; `None` for computations and messages.
    pub plan: Option<usize>,
    /// Ports that it holds at each of its ranks, ascending; empty for computations.
    pub ports: Vec<u32>,
    /// Whether circuits on the ports of the node change before it.
    pub reconfigured: bool,
    /// Whether the ports of the node go back to the resting topology after it.
    pub returns: bool,
    /// For messages: whether they go over circuits of their own.
    pub direct: bool,
    /// For messages: index of the topology that they go over; if it is `None` and they are not `direct`, they go over
    /// the circuits that their ports have.
    pub topology: Option<usize>,
    /// The delay of the node's start by the change before it, s.
    pub reconfiguration_exposed_s: f64,
    /// Index of the event whose end, and the change after it, its start was the last to wait for.
    pub waits_for: Option<usize>,
    /// Indices of the events whose circuits, used by nothing else, are given up when the change before this one begins,
    /// for the optical layer to have room for its own; ascending.
    pub gives_up: Vec<usize>,
}

/// A topology of groups that messages go over.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageTopology {
    /// Index of the axis whose groups have it; `None` if all ranks are one group.
    pub axis: Option<usize>,
    /// Whether this is the resting topology of these groups.
    pub rests: bool,
    /// The topology of one group.
    pub topology: Topology,
}

/// A training iteration on a fabric, repeated for ever: what ports have at its end is what they have at its start.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingPlan {
    /// Name of the policy.
    pub policy: String,
    /// Whether nothing is faster: by the lower bound; or, where communications of one family follow each other, no
    /// other choice from the library of plans on all ports.
    pub exact: bool,
    /// The workload that is run.
    pub workload: Workload,
    /// The fabric of all ranks; its start is the resting topology of each group where it is one by name.
    pub fabric: Fabric,
    /// Name of the resting topology of a group.
    pub resting: String,
    /// Events, one for each node.
    pub events: Vec<TrainingEvent>,
    /// Topologies that messages go over.
    pub topologies: Vec<MessageTopology>,
    /// Plans of one group each, on as many ports as the events that use them have.
    pub plans: Vec<Plan>,
    /// Time of an iteration, s.
    pub total_s: f64,
    /// Time of the iteration if communication took none, s.
    pub compute_s: f64,
    /// Lower bound on the time of any plan of the workload on the fabric.
    pub bound: Bound,
    /// Lower bound on the time of any order of the events with their plans and ports, s.
    pub order_bound_s: f64,
    /// Whether this order is known to be the fastest: by that bound, or because all orders were looked through.
    pub order_exact: bool,
    /// Events before which circuits change.
    pub reconfigurations: usize,
    /// The part of their delays behind computation and other communication, s.
    pub reconfiguration_hidden_s: f64,
    /// The part of their delays that events wait for, s.
    pub reconfiguration_exposed_s: f64,
    /// Seconds of the longest chain of waits by what they are spent on, in the order of first use.
    pub critical_path_s: Vec<(String, f64)>,
    /// Time of an iteration by policy; `None` where the policy does not serve the workload.
    pub policies: Vec<(String, Option<f64>)>,
    /// By policy, the time at which prompts have their first tokens, s; empty for workloads without prompts.
    pub first_token_s: Vec<(String, Option<f64>)>,
    /// By policy: when their KV caches are where they are decoded, s; empty where none are sent.
    pub caches_s: Vec<(String, Option<f64>)>,
    /// Notes on policies.
    pub policy_notes: Vec<(String, String)>,
}

impl TrainingPlan {
    /// Checks that the parts fit each other; what they are worth is for `verify` to judge.
    ///
    /// # Errors
    /// Another number of events than nodes, a plan or event that there is not, ports that the fabric has not or out of
    /// order, times that are not finite.
    pub fn checked(self) -> Result<Self> {
        let (nodes, ports) = (self.workload.nodes.len(), self.fabric.shape.ports());
        if self.events.len() != nodes {
            let found = self.events.len();
            return Err(Error::malformed("training.events", format!("there are {found} events for {nodes} nodes")));
        }
        for (index, MessageTopology { axis, topology, .. }) in self.topologies.iter().enumerate() {
            let field = format!("training.topologies[{index}]");
            let size = match axis {
                None => Some(self.workload.ranks),
                Some(axis) => self.workload.mesh.get(*axis).map(|axis| axis.size),
            };
            if size != Some(topology.ranks()) {
                return Err(Error::malformed(field, "the topology must have as many GPUs as a group has ranks"));
            }
            topology.check_ports(ports).map_err(|error| Error::malformed(field, error))?;
        }
        for (index, event) in self.events.iter().enumerate() {
            let field = |name: &str| format!("training.events[{index}].{name}");
            let times = [event.start_s, event.end_s, event.reconfiguration_exposed_s];
            if times.iter().any(|time| !(time.is_finite() && *time >= 0.0)) || event.end_s < event.start_s {
                return Err(Error::malformed(field("end_s"), "times must be finite, at least 0 and in order"));
            }
            if event.plan.is_some_and(|plan| plan >= self.plans.len()) {
                return Err(Error::malformed(field("plan"), "it is not the index of a plan"));
            }
            if event.topology.is_some_and(|topology| topology >= self.topologies.len()) {
                return Err(Error::malformed(field("topology"), "it is not the index of a topology"));
            }
            if !event.ports.is_sorted_by(|a, b| a < b) || event.ports.iter().any(|&port| port >= ports) {
                let reason = format!("ports must be ascending and below {ports}, the fabric's ports");
                return Err(Error::malformed(field("ports"), reason));
            }
            if !event.gives_up.is_sorted_by(|a, b| a < b) || event.gives_up.iter().any(|&other| other >= nodes) {
                return Err(Error::malformed(field("gives_up"), "it must be ascending indices of events"));
            }
            if event.waits_for.is_some_and(|other| other >= nodes) {
                return Err(Error::malformed(field("waits_for"), "it is not the index of an event"));
            }
        }
        let times = [self.total_s, self.compute_s, self.reconfiguration_hidden_s, self.reconfiguration_exposed_s];
        let path = self.critical_path_s.iter().map(|(_, time)| *time);
        let by_policy = self.policies.iter().chain(&self.first_token_s).chain(&self.caches_s);
        let policies = by_policy.filter_map(|(_, time)| *time);
        if times.into_iter().chain(path).chain(policies).any(|time| !(time.is_finite() && time >= 0.0)) {
            return Err(Error::malformed("training.total_s", "times must be finite and at least 0"));
        }
        Ok(self)
    }

    /// Seconds that an event waits for more than computation.
    pub fn exposed_communication_s(&self) -> f64 {
        (self.total_s - self.compute_s).max(0.0)
    }

    /// Modelled FLOPs utilisation: operations of the model per second over those of which all ranks are capable.
    pub fn mfu(&self) -> Option<f64> {
        let (flops, peak) = (self.workload.model_flops?, self.workload.peak_flops?);
        (self.total_s > 0.0).then(|| flops / (self.total_s * peak * f64::from(self.workload.ranks)))
    }
}
