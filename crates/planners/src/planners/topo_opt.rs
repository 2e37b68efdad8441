//! TopoOpt as the all-to-all paper's baseline (§5.1): a union of shifted rings and one shortest path for every flow.

use block_rounds::baselines;
use model::Routing;

use crate::LeastSum;
use crate::all_to_all_baseline::{AllToAllBaseline, Service};

pub(crate) static TOPO_OPT: AllToAllBaseline = AllToAllBaseline {
    name: "topo-opt",
    summary: "All-to-All on one union of shifted rings, each flow on a shortest path, by rounds of whole blocks",
    source: "TopoOpt §4.4, as To reconfigure or not to reconfigure §5.1 has it",
    fixed_routing: Some(Routing::SinglePath),
    least_sum: LeastSum::Always,
    service: Service::Rounds,
    choose: |blocks, limit_s| {
        let shape = &blocks.problem().fabric.shape;
        blocks.on_one_topology(limit_s, |_| baselines::topo_opt(shape.gpus(), shape.ports()))
    },
};
