//! What a step costs, and the settings in which the papers differ.
//!
//! T = Σ_i [ α + δ·hops_i + β·m_i·load_i + α_r·(G_i ≠ G_{i−1}) ]   (HARVEST eq. 4)

use crate::{Collective, Fabric, Result, unknown_name};

/// How the traffic of a step is put on paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Routing {
    /// Maximum concurrent flow: fractional, least load on the busiest link (HARVEST eq. 3).
    ConcurrentFlow,
    /// Every shortest path carries the same share.
    EqualSplit,
    /// One shortest path per transfer (PCCL algorithm 2).
    SinglePath,
}

impl Routing {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::ConcurrentFlow, Self::EqualSplit, Self::SinglePath];

    /// The name in the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::ConcurrentFlow => "concurrent-flow",
            Self::EqualSplit => "equal-split",
            Self::SinglePath => "single-path",
        }
    }

    /// What it does, in a sentence.
    pub fn summary(self) -> &'static str {
        match self {
            Self::ConcurrentFlow => "maximum concurrent flow: fractional, least load on the busiest link",
            Self::EqualSplit => "every shortest path carries the same share",
            Self::SinglePath => "one shortest path per transfer",
        }
    }

    /// # Errors
    /// An unknown name.
    pub fn parse(name: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|routing| routing.name() == name)
            .ok_or_else(|| unknown_name("routing", name, Self::ALL.map(Self::name)))
    }
}

/// What the hop delay multiplies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Propagation {
    /// The longest path in use (HARVEST §3.3, as the paper's text has it).
    Hops,
    /// 1/θ: what the busiest link carries over what each port of the busiest rank would carry if all shared its
    /// traffic. HARVEST's published schedules charge it.
    InverseThroughput,
}

/// How many hop delays one step is charged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum HopDelays {
    /// One for each hop of its longest path.
    Longest,
    /// So many for each unit of load.
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

    /// Seconds per hop and per unit of load of a step whose largest transfer takes `transmission_s` on a link of its own.
    pub fn hop_and_load_s(self, hop_s: f64, transmission_s: f64) -> (f64, f64) {
        match self {
            Self::Longest => (hop_s, transmission_s),
            Self::PerLoad(multiple) => (0.0, transmission_s + hop_s * multiple),
        }
    }
}

impl Propagation {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Hops, Self::InverseThroughput];

    /// What a step is charged whose busiest rank sends or receives `node_load`, in units of the step's largest transfer.
    pub fn of_step(self, ports: u32, node_load: impl FnOnce() -> f64) -> HopDelays {
        match self {
            Self::Hops => HopDelays::Longest,
            Self::InverseThroughput => HopDelays::PerLoad(f64::from(ports) / node_load()),
        }
    }

    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hops => "hops",
            Self::InverseThroughput => "inverse-throughput",
        }
    }

    /// # Errors
    /// An unknown name.
    pub fn parse(name: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|rule| rule.name() == name)
            .ok_or_else(|| unknown_name("propagation", name, Self::ALL.map(Self::name)))
    }
}

/// Whether a step's propagation and transmission overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Overlap {
    /// They do not: α + δ·hops + β·m·load, the limit of paced senders.
    Additive,
    /// As packets overlap them that are all handed over at the start of the step: what `simulate` finds by
    /// default. Planners and judges take it from there.
    Pipelined,
}

impl Overlap {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Additive, Self::Pipelined];

    /// The name in the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Additive => "additive",
            Self::Pipelined => "pipelined",
        }
    }

    /// What it does, in a sentence.
    pub fn summary(self) -> &'static str {
        match self {
            Self::Additive => "hop delays and transmission add up: the limit of paced senders",
            Self::Pipelined => "packets handed over at the start of a step overlap hop delays with queueing",
        }
    }

    /// # Errors
    /// An unknown name.
    pub fn parse(name: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|overlap| overlap.name() == name)
            .ok_or_else(|| unknown_name("overlap", name, Self::ALL.map(Self::name)))
    }
}

/// Settings that change what a plan costs, beside the fabric's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CostSettings {
    /// How traffic is routed.
    pub routing: Routing,
    /// What the hop delay multiplies.
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

/// A paper's assumptions, as a preset. Whatever is set explicitly wins over it.
#[derive(Debug, Clone, Copy)]
pub struct Convention {
    /// Name for `--convention`; a planner of that name assumes it where nothing else is said.
    pub name: &'static str,
    /// What it sets, in words.
    pub summary: &'static str,
    /// Routing and propagation.
    pub settings: CostSettings,
    /// The topology before the first step of a collective: `free`, or a specification.
    pub initial: fn(Collective) -> &'static str,
}

impl Convention {
    /// The presets. The first is the default.
    pub const ALL: &'static [Self] = &[
        Self {
            name: "harvest",
            summary: "HARVEST eq. 4: first topology free, concurrent flow, the hop delay times the longest path",
            settings: CostSettings::additive(Routing::ConcurrentFlow, Propagation::Hops),
            initial: |_| "free",
        },
        Self {
            name: "harvest-published",
            summary: "HARVEST's published schedules: as harvest, but the hop delay times 1/θ",
            settings: CostSettings::additive(Routing::ConcurrentFlow, Propagation::InverseThroughput),
            initial: |_| "free",
        },
        Self {
            name: "reconfigure-all-to-all",
            summary: "all-to-all paper: the first topology is charged as a reconfiguration, shortest paths",
            settings: CostSettings::additive(Routing::SinglePath, Propagation::Hops),
            initial: |_| "dark",
        },
        Self {
            name: "pccl",
            summary: "PCCL: starts on a given topology (the ring), one shortest path per transfer",
            settings: CostSettings::additive(Routing::SinglePath, Propagation::Hops),
            initial: |_| "ring",
        },
        Self {
            name: "bridge",
            summary: "BRIDGE: starts on the ring, AllGather in the subring that it needs; the (sub)ring's one path",
            settings: CostSettings::additive(Routing::SinglePath, Propagation::Hops),
            initial: |collective| if collective == Collective::AllGather { "free" } else { "ring" },
        },
        Self {
            name: "short-circuit",
            summary: "short-circuiting rings: starts on the ring, the ring's one path",
            settings: CostSettings::additive(Routing::SinglePath, Propagation::Hops),
            initial: |_| "ring",
        },
    ];

    /// # Errors
    /// An unknown name.
    pub fn parse(name: &str) -> Result<&'static Self> {
        Self::ALL
            .iter()
            .find(|convention| convention.name == name)
            .ok_or_else(|| unknown_name("convention", name, Self::ALL.iter().map(|convention| convention.name)))
    }

    /// The convention of that name; else that of the planner's name; else the default.
    ///
    /// # Errors
    /// An unknown name of a convention.
    pub fn select(name: Option<&str>, planner: Option<&str>) -> Result<&'static Self> {
        if let Some(name) = name {
            return Self::parse(name);
        }
        Ok(Self::ALL.iter().find(|convention| Some(convention.name) == planner).unwrap_or(&Self::ALL[0]))
    }
}

/// The four terms of a step's cost, seconds.
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
}

impl StepCost {
    /// Cost of a step of `bytes` per transfer on a profile point, without reconfiguration.
    pub fn on_point(fabric: &Fabric, delays: HopDelays, bytes: f64, hops: u32, load: f64) -> Self {
        Self {
            startup_s: fabric.startup_s,
            propagation_s: fabric.hop_delay_s * delays.count(hops, load),
            transmission_s: fabric.byte_s() * bytes * load,
            reconfiguration_s: 0.0,
        }
    }

    /// Cost of a step that takes `transfer_s` from its first packet to its last, on paths of up to `hops` hops: what
    /// propagation leaves of it is transmission.
    pub fn pipelined(fabric: &Fabric, hops: u32, transfer_s: f64) -> Self {
        let propagation_s = (fabric.hop_delay_s * f64::from(hops)).min(transfer_s);
        Self {
            startup_s: fabric.startup_s,
            propagation_s,
            transmission_s: transfer_s - propagation_s,
            reconfiguration_s: 0.0,
        }
    }

    /// Each term added up over steps.
    pub fn sum<'a>(costs: impl Iterator<Item = &'a Self> + Clone) -> Self {
        let sum = |term: fn(&Self) -> f64| sum_seconds(costs.clone().map(term));
        Self {
            startup_s: sum(|cost| cost.startup_s),
            propagation_s: sum(|cost| cost.propagation_s),
            transmission_s: sum(|cost| cost.transmission_s),
            reconfiguration_s: sum(|cost| cost.reconfiguration_s),
        }
    }

    /// The terms, in the order in which they are shown.
    pub fn terms(&self) -> [f64; 4] {
        [self.startup_s, self.propagation_s, self.transmission_s, self.reconfiguration_s]
    }

    /// Their sum.
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
