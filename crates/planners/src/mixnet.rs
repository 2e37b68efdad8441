//! MixNet as the all-to-all paper's baseline (§5.1): one topology whose circuits go to the largest flows first.

use all_to_all::{baselines, workloads};
use model::{Collective, Result, Routing};

use crate::forwarded_blocks::ForwardedBlocks;
use crate::{Capabilities, Choice, LeastSum, Planner, Problem};

/// MixNet: circuits to the largest flows first, never reconfigured.
pub struct MixNet;

impl Planner for MixNet {
    fn name(&self) -> &'static str {
        "mixnet"
    }

    fn summary(&self) -> &'static str {
        "All-to-All on one topology, its circuits given to the largest flows first, by rounds of whole blocks"
    }

    fn source(&self) -> &'static str {
        "MixNet, as To reconfigure or not to reconfigure §5.1 has it"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            only: Some(Collective::AllToAll),
            takes_candidates: false,
            fixed_routing: Some(Routing::SinglePath),
            forwards_blocks: true,
            replaces_algorithm: true,
            least_sum: LeastSum::EqualBlocks,
            ..Capabilities::default()
        }
    }

    fn choose_within(&self, problem: &Problem, limit_s: f64) -> Result<Option<Choice>> {
        let blocks = ForwardedBlocks::of(problem, self.name())?;
        let shape = &problem.fabric.shape;
        blocks.on_one_topology(limit_s, |matrix| match matrix {
            Some(matrix) => baselines::mixnet(matrix, shape.ports()),
            None => baselines::mixnet(&workloads::uniform(shape.gpus(), 1.0), shape.ports()),
        })
    }
}
