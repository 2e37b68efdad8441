//! Plans with whose circuits and paths the search for another matrix begins.

use std::collections::BTreeMap;

use model::{Collective, Error, Piece, Plan, PlanStep, Rank, Result, RoutedPath, Routing, counted};
use planners::{Given, GivenPath};

use crate::cutoffs::warm_start::{LEAST_PART, MOST_TOPOLOGIES};
use crate::{Request, Workload};

/// Field of errors about the plan to begin with.
const FIELD: &str = "warm_start";

/// The topologies of a plan in order, one for each run of steps on it, and the paths of its blocks.
///
/// # Errors
/// A plan that the request cannot begin with.
pub(crate) fn given(plan: &Plan, request: &Request) -> Result<Given> {
    let shape = &request.fabric.shape;
    let (gpus, ports) = (shape.gpus(), shape.ports());
    let chooses = request.named_planner().is_none_or(|name| {
        planners::find(name).is_ok_and(|planner| {
            let can = planner.capabilities();
            can.chooses_algorithm && !can.never_changes
        })
    });
    let is_unequal =
        matches!(&request.workload, Workload::Matrix(blocks) if blocks.whole().chunks().as_pieces().is_some());
    let refuse = |reason: &str| Err(Error::infeasible(FIELD, reason));
    if !is_unequal || !chooses {
        return refuse("it is for an All-to-All of unequal blocks (`matrix`) by planner auto or weave");
    }
    if request.settings.routing != Routing::ConcurrentFlow || request.fabric.optics.is_some() {
        return refuse(
            "it is for routing concurrent-flow without an optical layer, which leave paths and circuits open",
        );
    }
    let of = &plan.fabric.shape;
    let accepts = format!("a plan of all-to-all for {gpus} GPUs with {}", counted(u64::from(ports), "port"));
    let is = format!(
        "a plan of {} for {} GPUs with {}",
        plan.collective().name(),
        of.gpus(),
        counted(u64::from(of.ports()), "port")
    );
    if (plan.collective(), of.gpus(), of.ports()) != (Collective::AllToAll, gpus, ports) {
        return Err(Error::value(FIELD, is, accepts));
    }
    let runs: Vec<&[PlanStep]> = plan.steps.chunk_by(|one, other| one.topology == other.topology).collect();
    if runs.is_empty() || runs.len() > MOST_TOPOLOGIES {
        let is = format!("a plan of {}", counted(runs.len() as u64, "topology"));
        return Err(Error::value(FIELD, is, format!("a plan of 1 to {MOST_TOPOLOGIES} topologies")));
    }
    let topologies = runs.iter().map(|run| plan.topologies[run[0].topology].clone()).collect();
    Ok(Given { topologies, paths: paths(plan, &runs) })
}

/// The paths of all blocks through the runs of steps; none where steps are written by their symmetry, as those of equal
/// blocks are.
fn paths(plan: &Plan, runs: &[&[PlanStep]]) -> Vec<GivenPath> {
    let is_written_out = |step: &PlanStep| step.step.symmetry().order() == 1 && step.routes.symmetry.order() == 1;
    let Some(pieces) = plan.chunks.as_pieces().filter(|_| plan.steps.iter().all(is_written_out)) else {
        return Vec::new();
    };
    // By piece, its paths so far.
    let whole =
        |piece: &Piece| vec![GivenPath { src: piece.src, dst: piece.dst, share: piece.share, hops: Vec::new() }];
    let mut paths: Vec<Vec<GivenPath>> = pieces.iter().map(whole).collect();
    for (run, step) in (0..).zip(runs).flat_map(|(run, steps)| steps.iter().map(move |step| (run, step))) {
        interruption::check();
        let routes: BTreeMap<(Rank, Rank), &[RoutedPath]> =
            step.routes.arcs.iter().map(|arc| ((arc.src, arc.dst), &arc.paths[..])).collect();
        for transfer in step.step.transfers() {
            let Some(routes) = routes.get(&(transfer.src, transfer.dst)) else { continue };
            for &chunk in &transfer.chunks {
                let so_far = std::mem::take(&mut paths[chunk as usize]);
                paths[chunk as usize] = continued(so_far, routes, run, LEAST_PART * pieces[chunk as usize].share);
            }
        }
    }
    paths.into_iter().flatten().filter(|path| !path.hops.is_empty()).collect()
}

/// Paths that go on by these routes of a step; those of less than `least` are left out.
fn continued(paths: Vec<GivenPath>, routes: &[RoutedPath], run: u32, least: f64) -> Vec<GivenPath> {
    let on = |path: &GivenPath, route: &RoutedPath| {
        let mut hops = Vec::with_capacity(path.hops.len() + route.nodes.len() - 1);
        hops.extend_from_slice(&path.hops);
        hops.extend(route.nodes[1..].iter().map(|&rank| (run, rank)));
        GivenPath { share: path.share * route.share, hops, ..*path }
    };
    let all = paths.iter().flat_map(|path| routes.iter().map(move |route| (path, route)));
    all.filter(|(path, route)| path.share * route.share >= least).map(|(path, route)| on(path, route)).collect()
}
