//! A plan among islands as stages of all GPUs: what an island does there, its lanes do here.

use std::collections::BTreeSet;

use model::{Chunks, Collective, Plan, Rank, Result, RoutedPath, Transfer, Translations};

use super::islands::{Islands, Lanes};
use super::stage::{Move, Stage};
use super::stages::Staged;
use super::wiring::{Sharing, Wiring};

/// The stages of a plan among islands, without what is sent inside islands before and after it.
///
/// # Errors
/// More chunks than there may be.
pub(super) fn lifted(plan: &Plan, islands: Islands, root: Rank, sharing: Sharing) -> Result<Staged> {
    let collective = plan.collective();
    let lanes = Lanes {
        islands,
        collective,
        root,
        parts: plan.chunks.parts().unwrap_or(1),
        is_buffer: plan.chunks.as_buffer().is_some(),
    };
    let small = common_symmetry(plan);
    let group = islands.lifted(&small, sharing == Sharing::Rails && !lanes.is_buffer && !collective.has_root())?;
    let chunks = lanes.chunks(1)?;
    let wirings: Vec<Wiring> =
        plan.topologies.iter().map(|topology| Wiring::new(islands, sharing, topology, &small)).collect();
    let topologies = plan
        .topologies
        .iter()
        .zip(&wirings)
        .map(|(topology, wiring)| wiring.topology(topology.name(), &group))
        .collect::<Result<Vec<_>>>()?;
    let mut stages = Vec::new();
    for step in &plan.steps {
        let wiring = &wirings[step.topology];
        let mut moves = Vec::new();
        let first_lanes = if group.orbits() == small.orbits() { 1 } else { islands.gpus };
        let routes: Vec<_> = step.routes.expanded();
        let paths_of = |src: Rank, dst: Rank| -> &[RoutedPath] {
            routes.binary_search_by_key(&(src, dst), |arc| (arc.src, arc.dst)).map_or(&[], |at| &routes[at].paths)
        };
        for transfer in step.step.expanded(&plan.chunks) {
            interruption::check();
            if small.canonical(transfer.src).1 != 0 {
                continue;
            }
            let paths = paths_of(transfer.src, transfer.dst);
            for lane in 0..first_lanes {
                moves.extend(of_lane(&lanes, &chunks, wiring, &transfer, paths, lane));
            }
        }
        stages.push(Stage { topology: Some(step.topology), moves });
    }
    let name = match sharing {
        Sharing::Rails => format!("{} on rails", plan.algorithm),
        Sharing::Pooled => format!("{} on pooled ports", plan.algorithm),
    };
    Ok(Staged { lanes, group, topologies, stages, name })
}

/// The group under which all of a plan's steps are invariant, with their routes and topologies.
fn common_symmetry(plan: &Plan) -> Translations {
    let of_step = |step: &model::PlanStep| step.step.symmetry().meet(&step.routes.symmetry);
    let steps = plan.steps.iter().map(of_step);
    let topologies = plan.topologies.iter().map(|topology| topology.symmetry().clone());
    let all = steps.chain(topologies).reduce(|one, other| one.meet(&other));
    all.unwrap_or_else(|| Translations::trivial(plan.fabric.shape.gpus()))
}

/// The moves of a transfer between islands on one lane. Blocks of an All-to-All that leave the island that they start in
/// come from each of its GPUs; later they are all at the lane's own.
fn of_lane(
    lanes: &Lanes,
    chunks: &Chunks,
    wiring: &Wiring,
    transfer: &Transfer,
    paths: &[RoutedPath],
    lane: u32,
) -> Vec<Move> {
    let Lanes { islands, collective, .. } = *lanes;
    let ranks = islands.ranks();
    let held: Vec<u32> = transfer.chunks.iter().flat_map(|&chunk| lanes.of_island_chunk(chunk, lane)).collect();
    let origin = |chunk: u32| (collective == Collective::AllToAll).then(|| chunk / lanes.parts / ranks);
    let leaves = |chunk: u32| origin(chunk).filter(|src| src / islands.gpus == transfer.src);
    let sources: BTreeSet<u32> =
        held.iter().map(|&chunk| leaves(chunk).map_or(lane, |src| src % islands.gpus)).collect();
    let of = |src: u32| {
        let is_its = |chunk: &u32| leaves(*chunk).map_or(lane, |rank| rank % islands.gpus) == src;
        let mut sent: Vec<u32> = held.iter().copied().filter(is_its).collect();
        sent.sort_unstable();
        let paths: Vec<RoutedPath> = paths.iter().flat_map(|path| wiring.paths(src, lane, path)).collect();
        let (src, dst) = (islands.rank(transfer.src, src), islands.rank(transfer.dst, lane));
        debug_assert!(sent.iter().all(|&chunk| chunk < chunks.count()));
        Move { transfer: Transfer { src, dst, op: transfer.op, chunks: sent }, paths }
    };
    sources.into_iter().map(of).collect()
}
