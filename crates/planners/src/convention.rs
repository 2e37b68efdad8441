//! Assumptions of each paper, as presets of cost settings and of the initial topology. A planner that is named after a
//! paper uses that paper's assumptions by default.

use model::{Collective, CostSettings, Propagation, Result, Routing, unknown_name};

/// A paper's assumptions, as a preset. Values that are set explicitly replace it.
#[derive(Debug, Clone, Copy)]
pub struct Convention {
    /// Name for `--convention`; a planner of that name assumes it by default.
    pub name: &'static str,
    /// Description of the settings, in words.
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
