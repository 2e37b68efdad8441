//! Plans of given schedules, on random paths; and All-to-Alls of random pieces by way of other ranks.

use std::collections::BTreeMap;

use model::{
    Bound, Chunks, Collective, CostSettings, Fabric, Initial, Op, Piece, Plan, PlanParts, PlanStep, Rank,
    ReconfigurationPolicy, RoutedEntry, RoutedPath, Routes, Schedule, Shape, Step, StepCost, Topology, Transfer,
    Translations,
};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Ranks, and the generator that draws for them.
pub struct Drawn {
    pub shape: Shape,
    pub rng: ChaCha8Rng,
}

/// The plan of a schedule; what one rank sends to another takes one to three random paths. What it costs is left out.
pub fn planned(drawn: &mut Drawn, schedule: &Schedule, size_bytes: u64) -> Plan {
    let steps = schedule.steps().iter().map(|step| PlanStep {
        step: step.clone(),
        topology: 0,
        reconfigured: false,
        transfer_bytes: step.share() * size_bytes as f64,
        hops: 1,
        load: 1.0,
        electrical_load: 0.0,
        routes: routes(drawn, step),
        cost: StepCost::default(),
    });
    let steps = steps.collect();
    let fabric = Fabric {
        shape: drawn.shape.clone(),
        bandwidth_bps: 8e11,
        startup_s: 0.0,
        barrier_s: 0.0,
        hop_delay_s: 0.0,
        reconfiguration: ReconfigurationPolicy::constant(0.0),
        initial: Initial::Free,
        optics: None,
        electrical: None,
    };
    let nothing = Topology::new("no circuits", Translations::trivial(drawn.shape.gpus()), []).expect("a topology");
    Plan::new(PlanParts {
        algorithm: schedule.algorithm().into(),
        planner: "drawn".into(),
        size_bytes,
        fabric,
        settings: CostSettings::default(),
        chunks: schedule.chunks().clone(),
        topologies: vec![nothing],
        steps,
        bound: Bound { seconds: 0.0, class: "none".into() },
        narrow_bound: None,
    })
    .expect("a plan")
}

fn routes(drawn: &mut Drawn, step: &Step) -> Routes {
    let symmetry = Translations::trivial(drawn.shape.gpus());
    let arcs = step.traffic().expanded().into_iter().map(|arc| {
        let count = drawn.rng.random_range(1..=3);
        let weights: Vec<u32> = (0..count).map(|_| drawn.rng.random_range(1..=9)).collect();
        let all: u32 = weights.iter().sum();
        let paths = weights.iter().map(|&weight| {
            let nodes = [vec![arc.src], others(drawn, arc.src, arc.dst), vec![arc.dst]].concat();
            RoutedPath { share: f64::from(weight) / f64::from(all), nodes }
        });
        RoutedEntry { src: arc.src, dst: arc.dst, paths: paths.collect() }
    });
    Routes { symmetry, arcs: arcs.collect() }
}

/// Up to two other ranks, in random order.
fn others(drawn: &mut Drawn, src: Rank, dst: Rank) -> Vec<Rank> {
    let mut others: Vec<Rank> = (0..drawn.shape.gpus()).filter(|&rank| rank != src && rank != dst).collect();
    others.shuffle(&mut drawn.rng);
    others.truncate(drawn.rng.random_range(0..=2));
    others
}

/// An All-to-All of random pieces, each of which goes on by itself, some by way of others.
pub fn pieces(drawn: &mut Drawn) -> Schedule {
    let ranks = drawn.shape.gpus();
    let mut pieces = vec![Piece { src: 0, dst: ranks - 1, share: 0.25 }];
    for _ in 0..drawn.rng.random_range(0..40) {
        let (src, dst) = (drawn.rng.random_range(0..ranks), drawn.rng.random_range(0..ranks));
        pieces.push(Piece { src, dst, share: drawn.rng.random_range(1e-4..0.3) });
    }
    pieces.shuffle(&mut drawn.rng);
    let mut steps: Vec<BTreeMap<(Rank, Rank), Vec<u32>>> = vec![BTreeMap::new(); 3];
    for (chunk, piece) in (0..).zip(&pieces).filter(|(_, piece)| piece.src != piece.dst) {
        let way = [vec![piece.src], others(drawn, piece.src, piece.dst), vec![piece.dst]].concat();
        for (step, ends) in way.windows(2).enumerate() {
            steps[step].entry((ends[0], ends[1])).or_default().push(chunk);
        }
    }
    let chunks = Chunks::pieces(ranks, pieces).expect("pieces");
    let steps = steps.into_iter().filter(|step| !step.is_empty()).map(|step| {
        let transfers = step.into_iter().map(|((src, dst), chunks)| Transfer { src, dst, op: Op::Copy, chunks });
        Step::new(Translations::trivial(ranks), transfers, &chunks).expect("a step")
    });
    let steps = steps.collect();
    assert_eq!(chunks.collective(), Collective::AllToAll);
    Schedule::new("drawn", chunks, steps).expect("a schedule")
}
