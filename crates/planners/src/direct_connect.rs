//! DirectConnect as the all-to-all paper's baseline (§5.1): one topology of low diameter for all flows at once, routed
//! by maximum concurrent flow.

use std::sync::{Arc, Mutex, PoisonError};

use model::{Collective, CostSettings, Error, Fabric, Initial, Result, Routing, Schedule, Shape, Topology};

use crate::forwarded_blocks::ForwardedBlocks;
use crate::join::{join_steps, joins_steps};
use crate::static_topology::Static;
use crate::{Capabilities, Choice, LeastSum, Planner, Problem, ProfileTable};

/// On the generalised Kautz graph.
pub static KAUTZ: DirectConnect = DirectConnect::of(Family::Kautz);

/// On the circulant graph of least hops.
pub static CIRCULANT: DirectConnect = DirectConnect::of(Family::Circulant);

/// Concurrent flows of more commodities than this are refused: the linear program would take minutes.
const MAX_COMMODITIES: u64 = 1 << 13;

/// DirectConnect: one static topology of low diameter, all flows at once.
pub struct DirectConnect {
    family: Family,
    /// The flow of equal blocks, which is the same for all sizes, rates and delays, for the fabric asked for last.
    kept: Mutex<Option<(Shape, Initial, Arc<ProfileTable>)>>,
}

#[derive(Clone, Copy, PartialEq)]
enum Family {
    Kautz,
    Circulant,
}

impl Planner for DirectConnect {
    fn name(&self) -> &'static str {
        match self.family {
            Family::Kautz => "direct-connect-kautz",
            Family::Circulant => "direct-connect-circulant",
        }
    }

    fn summary(&self) -> &'static str {
        match self.family {
            Family::Kautz => "All-to-All in one step on a generalised Kautz graph, by maximum concurrent flow",
            Family::Circulant => "All-to-All in one step on a circulant graph, by maximum concurrent flow",
        }
    }

    fn source(&self) -> &'static str {
        "DirectConnect, as To reconfigure or not to reconfigure §5.1 has it"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            only: Some(Collective::AllToAll),
            takes_candidates: false,
            fixed_routing: Some(Routing::ConcurrentFlow),
            least_sum: LeastSum::Always,
            ..Capabilities::default()
        }
    }

    fn changes_steps(&self, schedule: &Schedule, _ports: u32) -> bool {
        ForwardedBlocks::serves(schedule) && joins_steps(schedule, schedule.steps().len())
    }

    fn choose_within(&self, problem: &Problem, limit_s: f64) -> Result<Option<Choice>> {
        ForwardedBlocks::of(problem, self.name())?;
        let schedule = join_steps(problem.schedule(), problem.schedule().steps().len())?;
        let topology = self.topology(problem)?;
        let group = schedule.steps()[0].traffic().symmetry().meet(topology.symmetry());
        let ranks = u64::from(topology.ranks());
        let commodities = ranks * (ranks - 1) / u64::from(group.order());
        if commodities > MAX_COMMODITIES {
            let reason = format!("its flow has {commodities} commodities; it serves up to {MAX_COMMODITIES}");
            return Err(Error::refused("planner", self.name(), reason));
        }
        let settings = CostSettings { routing: Routing::ConcurrentFlow, ..problem.settings };
        let mut own = Problem::new(schedule, problem.fabric.clone(), settings, problem.size_bytes, vec![topology])?;
        if own.schedule().chunks().as_pieces().is_none() {
            own.table = self.known_or(own.table.clone(), &problem.fabric);
        }
        // The initial topology may have joined the candidates; it is not what this planner stands for.
        let own = Problem { static_candidates: vec![0], ..own };
        let choice = Static.choose_within(&own, limit_s)?;
        Ok(choice.map(|choice| Choice { planner: self.name(), ..choice }))
    }
}

impl DirectConnect {
    const fn of(family: Family) -> Self {
        Self { family, kept: Mutex::new(None) }
    }

    /// The table that is kept for this fabric; else `table`, which is kept from now on.
    fn known_or(&self, table: Arc<ProfileTable>, fabric: &Fabric) -> Arc<ProfileTable> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        match &*kept {
            Some((shape, initial, known)) if *shape == fabric.shape && *initial == fabric.initial => known.clone(),
            _ => {
                *kept = Some((fabric.shape.clone(), fabric.initial.clone(), table.clone()));
                table
            }
        }
    }

    fn topology(&self, problem: &Problem) -> Result<Topology> {
        let shape = &problem.fabric.shape;
        // More ports than peers would be parallel circuits.
        let ports = shape.ports().min(shape.gpus() - 1);
        match self.family {
            // One circuit out of every GPU that joins all is a ring.
            _ if ports == 1 => topologies::build("ring", shape),
            Family::Kautz => topologies::build("kautz", shape),
            Family::Circulant => {
                let stages = all_to_all::circulant(shape.gpus(), ports)?.strategy().stages;
                let base = stages.into_iter().next().map(|stage| stage.topology);
                base.ok_or_else(|| Error::infeasible("topology", "no circulant joins all GPUs"))
            }
        }
    }
}
