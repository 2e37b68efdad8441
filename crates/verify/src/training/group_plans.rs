//! The plans of the groups: each by itself, and whether they are plans of their nodes on this fabric.

use model::{ByteMatrix, Plan, TrainingPlan, Work};

use super::held_ports::rates_bps;
use super::iteration::name;
use crate::report::{Check, Tally};

/// Largest distance of the sum of a block's pieces from its bytes, over the buffer.
const TOLERANCE: f64 = 1e-9;

/// Judges every plan as such; then, of every collective, that its plan has the same collective and size, on as many
/// ports as the event holds, and at the rates and delays of the fabric of all ranks.
pub(super) fn check(training: &TrainingPlan) -> Check {
    let mut tally = Tally::new("plans");
    for (index, plan) in training.plans.iter().enumerate() {
        interruption::check();
        let report = crate::plan(plan);
        let failure = report.first_failure();
        tally.expect(failure.is_none(), || {
            let user = training.events.iter().position(|event| event.plan == Some(index));
            let whose = user.map(|event| format!(", of {}", name(training, event))).unwrap_or_default();
            failure.map(|check| format!("plan {index}{whose}: {}: {}", check.name, check.detail)).unwrap_or_default()
        });
    }
    for (event, planned) in training.events.iter().enumerate() {
        if let Some(plan) = planned.plan.map(|plan| &training.plans[plan]) {
            let fault = fault(training, event, plan);
            tally.expect(fault.is_none(), || format!("{}: {}", name(training, event), fault.unwrap_or_default()));
        }
    }
    tally.into_check("statement", "of plans, each by itself and for the collectives that use it")
}

/// The property of a plan that differs from what its event needs, if any.
fn fault(training: &TrainingPlan, event: usize, plan: &Plan) -> Option<String> {
    let Work::Collective { collective, size_bytes, .. } = &training.workload.nodes[event].work else { return None };
    let (whole, own) = (&training.fabric, &plan.fabric);
    if plan.collective() != *collective {
        return Some(format!("its plan is of {}, not {}", plan.collective().name(), collective.name()));
    }
    if plan.size_bytes != *size_bytes {
        return Some(format!("its plan is of {} bytes, not {size_bytes}", plan.size_bytes));
    }
    if let Some(fault) = matrix_fault(training.workload.matrix_of(event).as_ref(), plan) {
        return Some(fault);
    }
    if let Some(root) = plan.chunks.root().filter(|&root| root != 0) {
        return Some(format!("its plan has root {root}; the root is the group's first rank"));
    }
    let (ports, held) = (own.shape.ports() as usize, training.events[event].ports.len());
    if ports != held {
        return Some(format!("its plan is for {ports} ports, and the event has {held}"));
    }
    let held_bps = rates_bps(whole, &training.events[event].ports);
    let own_bps = rates_bps(own, &(0..own.shape.ports()).collect::<Vec<_>>());
    if let Some(((has, should), port)) = own_bps.iter().zip(&held_bps).zip(0..).find(|((has, should), _)| has != should)
    {
        return Some(format!(
            "the bandwidth of its plan is {has} at port {port}, and the port that it holds has {should}"
        ));
    }
    let numbers = [("startup", own.startup_s, whole.startup_s), ("hop delay", own.hop_delay_s, whole.hop_delay_s)];
    if let Some((what, has, should)) = numbers.into_iter().find(|(_, has, should)| has != should) {
        return Some(format!("the {what} of its plan is {has}, and that of the fabric is {should}"));
    }
    let (change, overlap) = (&own.reconfiguration, &whole.reconfiguration);
    if change.delay().constant_s() != overlap.delay().constant_s() || change.overlap() != overlap.overlap() {
        return Some("its plan charges reconfigurations in another way than the fabric".into());
    }
    // The optical layer belongs to all ranks, so it is judged by the circuits of all groups together.
    own.optics.is_some().then(|| "its plan has an optical layer of its own".into())
}

/// A block of the plan of which there are other bytes than the matrix says; without one, blocks must be equal.
fn matrix_fault(matrix: Option<&ByteMatrix>, plan: &Plan) -> Option<String> {
    let (matrix, pieces) = match (matrix, plan.chunks.as_pieces()) {
        (None, None) => return None,
        (None, Some(_)) => return Some("its plan is of blocks of unequal sizes".into()),
        (Some(matrix), pieces) => (matrix, pieces),
    };
    let places = matrix.rows().len();
    if plan.fabric.shape.gpus() as usize != places {
        return Some(format!("its plan is for {} GPUs, its matrix for {places}", plan.fabric.shape.gpus()));
    }
    let m = plan.size_bytes as f64;
    let mut planned = vec![if pieces.is_some() { 0.0 } else { m / places as f64 }; places * places];
    for piece in pieces.unwrap_or_default() {
        planned[piece.src as usize * places + piece.dst as usize] += piece.share * m;
    }
    let blocks = planned.into_iter().enumerate().map(|(block, bytes)| (block / places, block % places, bytes));
    let stated = |src: usize, dst: usize| matrix.rows()[src][dst] as f64;
    // Data that stay where they are may be left out of a plan.
    let wrong = blocks
        .into_iter()
        .find(|&(src, dst, bytes)| (bytes - stated(src, dst)).abs() > TOLERANCE * m && !(src == dst && bytes == 0.0));
    wrong.map(|(src, dst, bytes)| {
        format!("its plan sends {bytes} bytes from place {src} to place {dst}, and its matrix has {}", stated(src, dst))
    })
}
