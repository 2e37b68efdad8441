//! Which GPU has which part in a plan, so that light takes little time from GPU to GPU.
//!
//! A plan is as good with its ranks on other GPUs, but for the lengths of fibres: its hop delays are those of the
//! longest fibre of each topology. Two GPUs are exchanged, the GPUs between two turned round, or one put elsewhere in
//! the order, where that makes the sum over all steps of hops times the longest fibre less, or leaves it and makes long
//! fibres shorter, until nothing does.

use model::{Error, Plan, Positions, Result};

use crate::cutoffs::placement::MOST_LENGTHS;

/// Circuits of a topology between ranks, and the hops of all steps on it.
struct Used {
    circuits: Vec<(usize, usize)>,
    hops: f64,
}

/// Hops times metres of the longest fibres, and times the fourth powers of all, in which long ones count most.
type Lengths = (f64, f64);

/// The GPU of each rank, found from the plan's own order and from the order of places along rows that turn at
/// their ends.
///
/// # Errors
/// A fabric whose fibres have no lengths, or GPUs that only forward.
pub fn shortest_order(plan: &Plan) -> Result<Vec<u32>> {
    let shape = &plan.fabric.shape;
    let Some(positions) = shape.positions() else {
        return Err(Error::value("placement", "`shortest` without positions", "the positions of the GPUs"));
    };
    if plan.chunks.members() < shape.gpus() {
        return Err(Error::value("placement", "`shortest` with GPUs that forward", "GPUs that all take part"));
    }
    let used = used(plan);
    let own: Vec<u32> = (0..shape.gpus()).map(|rank| shape.gpu_of(rank)).collect();
    let starts = [own.clone(), along_rows(&own, positions)];
    let found = starts.map(|order| improved(order, &used, positions));
    let [of_own, of_rows] = found.map(|order| (lengths(&order, &used, positions), order));
    Ok(if of_rows.0 < of_own.0 { of_rows.1 } else { of_own.1 })
}

/// The topologies of all steps.
fn used(plan: &Plan) -> Vec<Used> {
    let hops_on = |index: usize| {
        let steps = plan.steps.iter().filter(|step| step.topology == index);
        steps.map(|step| f64::from(step.hops)).sum::<f64>()
    };
    let topologies = plan.topologies.iter().enumerate();
    let all = topologies.map(|(index, topology)| {
        let links = topology.expanded();
        let circuits = links.iter().map(|link| (link.src as usize, link.dst as usize)).collect();
        Used { circuits, hops: hops_on(index) }
    });
    all.filter(|used| used.hops > 0.0).collect()
}

fn lengths(order: &[u32], used: &[Used], positions: &Positions) -> Lengths {
    let mut found = (0.0, 0.0);
    for Used { circuits, hops } in used {
        let (mut longest, mut all) = (0.0_f64, 0.0);
        for &(src, dst) in circuits {
            let metres = positions.fibre_m(order[src], order[dst]);
            longest = longest.max(metres);
            all += metres.powi(4);
        }
        found.0 += hops * longest;
        found.1 += hops * all;
    }
    found
}

/// The GPUs by rows, each row in the opposite direction to the one before.
fn along_rows(gpus: &[u32], positions: &Positions) -> Vec<u32> {
    let mut rows: Vec<(f64, f64)> = gpus.iter().map(|&gpu| positions.place_m(gpu)).map(|[_, y, z]| (z, y)).collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    rows.dedup();
    let key = |gpu: u32| {
        let [x, y, z] = positions.place_m(gpu);
        let row = rows.iter().position(|row| *row == (z, y)).unwrap_or(0);
        (row, if row % 2 == 0 { x } else { -x })
    };
    let mut order = gpus.to_vec();
    order.sort_by(|&a, &b| {
        let (a, b) = (key(a), key(b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    order
}

/// A change of an order between two of its places.
type Move = fn(&mut [u32]);

/// Moves and what undoes them: the ends exchanged, all turned round, the first put behind the others, the last before.
const MOVES: [(Move, Move); 4] = [
    (|between| between.swap(0, between.len() - 1), |between| between.swap(0, between.len() - 1)),
    (<[u32]>::reverse, <[u32]>::reverse),
    (|between| between.rotate_left(1), |between| between.rotate_right(1)),
    (|between| between.rotate_right(1), |between| between.rotate_left(1)),
];

/// The order after all moves that make the lengths less, as far as the effort allows.
fn improved(mut order: Vec<u32>, used: &[Used], positions: &Positions) -> Vec<u32> {
    let circuits: usize = used.iter().map(|used| used.circuits.len()).sum();
    let mut left = MOST_LENGTHS / circuits.max(1);
    let mut best = lengths(&order, used, positions);
    loop {
        let before = best;
        for first in 0..order.len() {
            interruption::check();
            for second in first + 1..order.len() {
                for (change, undo) in MOVES {
                    if left == 0 {
                        return order;
                    }
                    left -= 1;
                    change(&mut order[first..=second]);
                    let found = lengths(&order, used, positions);
                    if found < best {
                        best = found;
                    } else {
                        undo(&mut order[first..=second]);
                    }
                }
            }
        }
        if best == before {
            return order;
        }
    }
}
