//! TopoOpt as the all-to-all paper's baseline (§5.1): a union of shifted rings and one shortest path for every flow.

use all_to_all::baselines;
use model::{Collective, Result, Routing};

use crate::forwarded_blocks::ForwardedBlocks;
use crate::{Capabilities, Choice, LeastSum, Planner, Problem};

/// TopoOpt: a union of shifted rings, one shortest path for every flow.
pub struct TopoOpt;

impl Planner for TopoOpt {
    fn name(&self) -> &'static str {
        "topo-opt"
    }

    fn summary(&self) -> &'static str {
        "All-to-All on one union of shifted rings, each flow on a shortest path, by rounds of whole blocks"
    }

    fn source(&self) -> &'static str {
        "TopoOpt §4.4, as To reconfigure or not to reconfigure §5.1 has it"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            only: Some(Collective::AllToAll),
            takes_candidates: false,
            fixed_routing: Some(Routing::SinglePath),
            forwards_blocks: true,
            replaces_algorithm: true,
            least_sum: LeastSum::Always,
            ..Capabilities::default()
        }
    }

    fn choose_within(&self, problem: &Problem, limit_s: f64) -> Result<Option<Choice>> {
        let blocks = ForwardedBlocks::of(problem, self.name())?;
        let shape = &problem.fabric.shape;
        blocks.on_one_topology(limit_s, |_| baselines::topo_opt(shape.gpus(), shape.ports()))
    }
}
