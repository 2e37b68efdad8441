//! Plans for the tests, by hand.

use model::{
    Bound, Chunks, Collective, CostSettings, Fabric, HopDelays, Initial, Link, Op, Plan, PlanParts, PlanStep, Rank,
    RoutedEntry, RoutedPath, Routes, Step, StepCost, Topology, Transfer, Translations,
};

/// A transfer by hand: sender, receiver, chunks of one 64th of the buffer, and its paths with their shares.
pub type Sent = (Rank, Rank, u32, Vec<(f64, Vec<Rank>)>);

/// A plan by hand: per step a topology and its transfers. The costs of steps are not filled in, except the
/// reconfiguration; loads are those given.
pub fn by_hand(fabric: Fabric, size_bytes: u64, topologies: Vec<Topology>, steps: &[(usize, f64, Vec<Sent>)]) -> Plan {
    let gpus = fabric.shape.gpus();
    let chunks = Chunks::buffer(Collective::AllReduce, gpus, 0, 64).unwrap();
    let mut before = match &fabric.initial {
        Initial::Free | Initial::Repeated => None,
        Initial::Topology(topology) => Some(topology.clone()),
    };
    let mut before_s = 0.0;
    let steps = steps.iter().enumerate().map(|(index, (topology, load, sent))| {
        let transfers = sent.iter().map(|(src, dst, chunks, _)| Transfer {
            src: *src,
            dst: *dst,
            op: Op::Copy,
            chunks: (0..*chunks).collect(),
        });
        let step = Step::new(Translations::trivial(gpus), transfers, &chunks).unwrap();
        let mut arcs: Vec<RoutedEntry> = sent
            .iter()
            .map(|(src, dst, _, paths)| RoutedEntry {
                src: *src,
                dst: *dst,
                paths: paths.iter().map(|(share, nodes)| RoutedPath { share: *share, nodes: nodes.clone() }).collect(),
            })
            .collect();
        arcs.sort_by_key(|arc| (arc.src, arc.dst));
        let now = &topologies[*topology];
        let policy = &fabric.reconfiguration;
        let charge_s = |before| policy.charge_s(policy.between(before, now, fabric.shape.ports()), index, before_s);
        let change_s = before.as_ref().map_or(0.0, charge_s);
        let reconfigured = before.as_ref().is_some_and(|before| !before.same_links(now));
        before = Some(now.clone());
        let transfer_bytes = step.share() * size_bytes as f64;
        let hops = 1;
        let mut cost = StepCost::on_point(&fabric, now, HopDelays::Longest, transfer_bytes, hops, *load);
        before_s = cost.total_s();
        cost.reconfiguration_s = change_s;
        let routes = Routes { symmetry: Translations::trivial(gpus), arcs };
        PlanStep {
            step,
            topology: *topology,
            reconfigured,
            transfer_bytes,
            hops,
            load: *load,
            electrical_load: 0.0,
            routes,
            cost,
        }
    });
    let steps = steps.collect();
    Plan::new(PlanParts {
        algorithm: "by hand".into(),
        planner: "by hand".into(),
        size_bytes,
        fabric,
        settings: CostSettings::default(),
        chunks,
        topologies,
        steps,
        bound: Bound { seconds: 0.0, class: "none".into() },
        narrow_bound: None,
    })
    .unwrap()
}

/// A topology by hand.
pub fn topology(gpus: u32, links: &[(Rank, Rank, u32)]) -> Topology {
    let links = links.iter().map(|&(src, dst, count)| Link { src, dst, count });
    Topology::new("by hand", Translations::trivial(gpus), links).unwrap()
}
