//! Topologies and flows chosen together for All-to-All ("To reconfigure or not to reconfigure").
//!
//! Rounds of whole blocks, forwarded hop by hop, on a sequence of topologies (§3, §4; the crate `block_rounds`). Blocks
//! of different sizes are sent by the same strategies with ranks relabelled (§4.4).

use block_rounds::{Blocks, Prices, Strategy, best, best_for_blocks, best_that_can_be_held};
use model::{Collective, Error, Result, Routing, Shape, Topology};

use crate::forwarded_blocks::ForwardedBlocks;
use crate::{Capabilities, Choice, LeastSum, Planner, Problem};

/// The price of a strategy and its plan's sum of terms may differ by this part.
const ROUNDING: f64 = 1e-9;

/// The all-to-all paper's planner: rounds of topologies and flows ("To reconfigure or not to reconfigure", §3–4).
pub struct ReconfigureAllToAll;

impl Planner for ReconfigureAllToAll {
    fn name(&self) -> &'static str {
        "reconfigure-all-to-all"
    }

    fn summary(&self) -> &'static str {
        "All-to-All by rounds of whole blocks on shifted rings, circulant, generalised Kautz or Cayley graphs and \
         their contractions, for the best number of topologies"
    }

    fn source(&self) -> &'static str {
        "To reconfigure or not to reconfigure §3, §4"
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

    fn left_out(&self, shape: &Shape) -> Option<String> {
        block_rounds::left_out(shape.gpus(), shape.ports())
    }

    fn choose_within(&self, problem: &Problem, limit_s: f64) -> Result<Option<Choice>> {
        let blocks = ForwardedBlocks::of(problem, self.name())?;
        match strategy(problem, &blocks, limit_s)? {
            Some(strategy) => blocks.choice(strategy, limit_s),
            None => Ok(None),
        }
    }
}

/// The best strategy for the blocks, unless it is known to cost more than `limit_s`.
fn strategy(problem: &Problem, blocks: &ForwardedBlocks, limit_s: f64) -> Result<Option<Strategy>> {
    let fabric = &problem.fabric;
    if let Some(matrix) = blocks.matrix() {
        if !blocks.may_do(limit_s) {
            return Ok(None);
        }
        let blocks = Blocks { matrix: &matrix, hop_s: &|bytes| blocks.hop_s(bytes) };
        return best_for_blocks(&fabric.shape, &blocks, fabric.reconfiguration.delay(), &fabric.initial).map(Some);
    }
    let hop_s = blocks.hop_s(blocks.block_bytes());
    let prices = Prices { hop_s, reconfiguration: fabric.reconfiguration.delay(), initial: &fabric.initial };
    let strategy = match problem.cache.limits(fabric)? {
        None => match best(&fabric.shape, &prices, limit_s * (1.0 + ROUNDING))? {
            Some(strategy) => strategy,
            None => return Ok(None),
        },
        Some(limits) => {
            let holds = |topology: &Topology| limits.refusal(topology).is_none();
            let found = best_that_can_be_held(&fabric.shape, &prices, holds)?;
            let reason = "the optical layer can hold no sequence of its topologies that joins all GPUs";
            found.ok_or_else(|| Error::infeasible("optics", reason))?
        }
    };
    Ok((strategy.price_s(&prices) <= limit_s * (1.0 + ROUNDING)).then_some(strategy))
}
