//! Cost of the planners that forward blocks in rounds as a function of the reconfiguration delay, for a sweep of delays
//! without planning at each.

use block_rounds::{Blocks, PriceLine, baselines, price_line, price_lines, workloads};
use model::{Error, Result};

use crate::forwarded_blocks::ForwardedBlocks;
use crate::planners::{MIXNET, ReconfigureAllToAll, TOPO_OPT};
use crate::{Planner, Problem};

/// Lines by the planner's name: those of `reconfigure-all-to-all` for every number of topologies, then the one of each
/// fixed topology. Strategies that the planner would relabel at one of these reconfiguration delays, s, are relabelled;
/// that of the problem does not matter.
///
/// # Errors
/// Anything but a direct All-to-All, or fewer rings than ports.
pub fn all_to_all_lines(problem: &Problem, delays_s: &[f64]) -> Result<Vec<(&'static str, Vec<PriceLine>)>> {
    if problem.fabric.optics.is_some() {
        let reason = "the lines of prices are for switches of any kind; leave the optical layer out";
        return Err(Error::infeasible("optics", reason));
    }
    let (ours, topo_opt, mixnet) = (ReconfigureAllToAll.name(), TOPO_OPT.name(), MIXNET.name());
    let given = ForwardedBlocks::of(problem, ours)?;
    let shape = &problem.fabric.shape;
    let matrix = given.matrix().unwrap_or_else(|| workloads::uniform(shape.gpus(), given.block_bytes()));
    let blocks = Blocks { matrix: &matrix, hop_s: &|bytes| given.hop_s(bytes) };
    let on_rings = price_line(&baselines::topo_opt(shape.gpus(), shape.ports())?, &blocks)?;
    let on_largest = price_line(&baselines::mixnet(&matrix, shape.ports())?, &blocks)?;
    Ok(vec![(ours, price_lines(shape, &blocks, delays_s)?), (topo_opt, vec![on_rings]), (mixnet, vec![on_largest])])
}
