//! MixNet as the all-to-all paper's baseline (§5.1): one topology whose circuits go to the largest flows first.

use block_rounds::{baselines, workloads};
use model::{Error, Routing};

use crate::LeastSum;
use crate::all_to_all_baseline::{AllToAllBaseline, Service};

/// For more GPUs equal blocks are refused, as matrices are: every pair's flow is packed by itself.
const MAX_GPUS: u32 = 512;

/// Name of the topology, and what it means.
pub(crate) const TOPOLOGY_NAME: (&str, &str) =
    (MIXNET.name, "circuits given to the largest flows of an All-to-All first, by the planner of this name");

/// The topology depends on the matrix, and so on the sizes of blocks that differ.
pub(crate) static MIXNET: AllToAllBaseline = AllToAllBaseline {
    name: "mixnet",
    summary: "All-to-All on one topology, its circuits given to the largest flows first, by rounds of whole blocks",
    source: "MixNet, as To reconfigure or not to reconfigure §5.1 has it",
    fixed_routing: Some(Routing::SinglePath),
    least_sum: LeastSum::EqualBlocks,
    service: Service::Rounds,
    choose: |blocks, limit_s| {
        let shape = &blocks.problem().fabric.shape;
        if shape.gpus() > MAX_GPUS {
            let reason = format!(
                "it packs the flow of every pair by itself and takes at most {MAX_GPUS} GPUs, not {}",
                shape.gpus()
            );
            return Err(Error::refused("planner", blocks.planner(), reason));
        }
        blocks.on_one_topology(limit_s, |matrix| match matrix {
            Some(matrix) => baselines::mixnet(matrix, shape.ports()),
            None => baselines::mixnet(&workloads::uniform(shape.gpus(), 1.0), shape.ports()),
        })
    },
};
