//! The cost of a step, and the settings in which the papers differ.
//!
//! T = Σ_i [ α + δ·hops_i + β·m_i·load_i + α_r·(G_i ≠ G_{i−1}) ]   (HARVEST eq. 4), and the barrier before each step.

use strum::{IntoStaticStr, VariantArray};

use crate::{Fabric, Topology};

/// The rule by which the traffic of a step is divided over paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Routing {
    /// Maximum concurrent flow: fractional, least load on the busiest link (HARVEST eq. 3).
    ConcurrentFlow,
    /// Every shortest path carries the same share.
    EqualSplit,
    /// One shortest path per transfer (PCCL algorithm 2).
    SinglePath,
}

impl Routing {
    /// A description in a sentence.
    pub fn summary(self) -> &'static str {
        match self {
            Self::ConcurrentFlow => "maximum concurrent flow: fractional, least load on the busiest link",
            Self::EqualSplit => "every shortest path carries the same share",
            Self::SinglePath => "one shortest path per transfer",
        }
    }
}

/// The factor of the hop delay in a step's propagation delay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Propagation {
    /// The longest path in use (HARVEST §3.3, as the paper's text has it).
    Hops,
    /// 1/θ: what the busiest link carries over what each port of the busiest rank would carry if all shared its
    /// traffic. HARVEST's published schedules charge it.
    InverseThroughput,
}

/// The number of hop delays that one step is charged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum HopDelays {
    /// One hop delay for each hop of its longest path.
    Longest,
    /// This number of hop delays for each unit of load.
    PerLoad(f64),
}

impl HopDelays {
    /// Hop delays charged on a profile point.
    pub fn count(self, hops: u32, load: f64) -> f64 {
        match self {
            Self::Longest => f64::from(hops),
            Self::PerLoad(multiple) => multiple * load,
        }
    }

    /// Seconds per hop and per unit of load of a step whose largest transfer takes `transmission_s` on a link of its
    /// own.
    pub fn hop_and_load_s(self, hop_s: f64, transmission_s: f64) -> (f64, f64) {
        match self {
            Self::Longest => (hop_s, transmission_s),
            Self::PerLoad(multiple) => (0.0, transmission_s + hop_s * multiple),
        }
    }
}

impl Propagation {
    /// The charge of a step whose busiest rank sends or receives `node_load`, in units of the step's largest transfer.
    pub fn of_step(self, ports: u32, node_load: impl FnOnce() -> f64) -> HopDelays {
        match self {
            Self::Hops => HopDelays::Longest,
            Self::InverseThroughput => HopDelays::PerLoad(f64::from(ports) / node_load()),
        }
    }
}

/// Whether a step's propagation and transmission overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Overlap {
    /// No overlap: α + δ·hops + β·m·load, the limit of paced senders.
    Additive,
    /// The overlap of packets that are all handed over at the start of the step: the time that `simulate` finds by
    /// default, which planners take from it.
    Pipelined,
}

impl Overlap {
    /// A description in a sentence.
    pub fn summary(self) -> &'static str {
        match self {
            Self::Additive => "hop delays and transmission add up: the limit of paced senders",
            Self::Pipelined => "hop delays overlap with queueing, as for packets injected at the start of a step",
        }
    }
}

crate::named! {
    Routing of "routing",
    Propagation of "propagation",
    Overlap of "overlap",
}

/// Settings that change what a plan costs, in addition to the fabric's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CostSettings {
    /// The routing of traffic.
    pub routing: Routing,
    /// The number that multiplies the hop delay.
    pub propagation: Propagation,
    /// Whether propagation and transmission overlap.
    pub overlap: Overlap,
}

impl CostSettings {
    /// Without overlap, as all papers have it.
    pub const fn additive(routing: Routing, propagation: Propagation) -> Self {
        Self { routing, propagation, overlap: Overlap::Additive }
    }

    /// The settings that are meant: a packet is delayed by its hops, so where packets overlap, the hop delay multiplies
    /// hops under every convention.
    #[must_use]
    pub fn of_packets(self) -> Self {
        match self.overlap {
            Overlap::Additive => self,
            Overlap::Pipelined => Self { propagation: Propagation::Hops, ..self },
        }
    }
}

impl Default for CostSettings {
    fn default() -> Self {
        Self::additive(Routing::ConcurrentFlow, Propagation::Hops)
    }
}

/// The terms of a step's cost, seconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StepCost {
    /// α.
    pub startup_s: f64,
    /// δ · hops.
    pub propagation_s: f64,
    /// β · m_i · load.
    pub transmission_s: f64,
    /// α_r, where the topology changes before the step.
    pub reconfiguration_s: f64,
    /// The barrier before the step.
    pub barrier_s: f64,
}

impl StepCost {
    /// Cost of a step of `bytes` per transfer on a profile point of a topology, without reconfiguration.
    pub fn on_point(fabric: &Fabric, topology: &Topology, delays: HopDelays, bytes: f64, hops: u32, load: f64) -> Self {
        Self {
            startup_s: fabric.startup_s,
            propagation_s: fabric.hop_delay_on_s(topology) * delays.count(hops, load),
            transmission_s: fabric.byte_s() * bytes * load,
            reconfiguration_s: 0.0,
            barrier_s: fabric.barrier_s,
        }
    }

    /// Cost of a step that takes `transfer_s` from its first packet to its last, on paths of up to `hops` hops of a
    /// topology: what propagation leaves of it is transmission.
    pub fn pipelined(fabric: &Fabric, topology: &Topology, hops: u32, transfer_s: f64) -> Self {
        let propagation_s = (fabric.hop_delay_on_s(topology) * f64::from(hops)).min(transfer_s);
        Self {
            startup_s: fabric.startup_s,
            propagation_s,
            transmission_s: transfer_s - propagation_s,
            reconfiguration_s: 0.0,
            barrier_s: fabric.barrier_s,
        }
    }

    /// The sum of costs, each term added up by itself.
    pub fn sum<'a>(costs: impl Iterator<Item = &'a Self> + Clone) -> Self {
        let sum = |term: fn(&Self) -> f64| sum_seconds(costs.clone().map(term));
        Self {
            startup_s: sum(|cost| cost.startup_s),
            propagation_s: sum(|cost| cost.propagation_s),
            transmission_s: sum(|cost| cost.transmission_s),
            reconfiguration_s: sum(|cost| cost.reconfiguration_s),
            barrier_s: sum(|cost| cost.barrier_s),
        }
    }

    /// The terms, in the order in which they are shown.
    pub fn terms(&self) -> [f64; 5] {
        [self.startup_s, self.propagation_s, self.transmission_s, self.reconfiguration_s, self.barrier_s]
    }

    /// The sum of the terms.
    pub fn total_s(&self) -> f64 {
        sum_seconds(self.terms())
    }
}

/// The sum with Neumaier's compensation: what exact addition gives, rounded once in all but contrived cases.
pub fn sum_seconds(terms: impl IntoIterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0_f64);
    for term in terms {
        let next = sum + term;
        lost += if sum.abs() >= term.abs() { (sum - next) + term } else { (term - next) + sum };
        sum = next;
    }
    sum + lost
}
