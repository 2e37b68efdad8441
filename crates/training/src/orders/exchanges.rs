//! A better order from one that is known: along the chain of waits, what waits for something that holds its ports or
//! ranks goes before it.

use crate::cutoffs::orders_exchanges::MOST_WORK;
use crate::timeline::{Problem, Timeline};

/// The best order that exchanges lead to.
pub(super) fn improved(problem: &Problem<'_>, mut best: Timeline) -> Timeline {
    let jobs = problem.jobs;
    let one = jobs.jobs.len() * (jobs.classes * problem.ports as usize + 16) * 4;
    let mut left = (MOST_WORK / one.max(1)).min(2000);
    let mut place = vec![0; jobs.jobs.len()];
    loop {
        for (at, &node) in best.order.iter().enumerate() {
            place[node] = at;
        }
        let mut better = None;
        for (holder, waiting) in held_up(problem, &best) {
            if left == 0 {
                return best;
            }
            let Some(order) = moved_before(problem, &best.order, &place, holder, waiting) else { continue };
            left -= 1;
            better = problem.in_order(&order).filter(|found| found.total_s < best.total_s * (1.0 - 1e-12));
            if better.is_some() {
                break;
            }
        }
        let Some(found) = better else { return best };
        best = found;
    }
}

/// Along the chain of waits, from its end: what holds something up, and what waits for it without being said to come
/// after it.
fn held_up(problem: &Problem<'_>, timeline: &Timeline) -> Vec<(usize, usize)> {
    let events = &timeline.events;
    let mut pairs = Vec::new();
    let mut at = timeline.order.iter().copied().find(|&node| events[node].end_s == timeline.total_s);
    while let Some(node) = at {
        at = events[node].waits_for;
        pairs.extend(at.filter(|before| !problem.jobs.jobs[node].before.contains(before)).map(|before| (before, node)));
    }
    pairs
}

/// The order with `waiting`, and all that it waits for, right before `holder`; none where it waits for that.
fn moved_before(
    problem: &Problem<'_>,
    order: &[usize],
    place: &[usize],
    holder: usize,
    waiting: usize,
) -> Option<Vec<usize>> {
    let (first, last) = (place[holder], place[waiting]);
    // Whether a node from the holder on goes with what is moved.
    let mut moves = vec![false; (last + 1).checked_sub(first)?];
    moves[last - first] = true;
    for at in (first + 1..=last).rev() {
        if moves[at - first] {
            for &before in problem.jobs.jobs[order[at]].before.iter().filter(|&&before| place[before] >= first) {
                moves[place[before] - first] = true;
            }
        }
    }
    if moves[0] {
        return None;
    }
    let part = |moved: bool| {
        let nodes = order[first..=last].iter().zip(&moves);
        nodes.filter(move |(_, moves)| **moves == moved).map(|(&node, _)| node)
    };
    Some(
        order[..first]
            .iter()
            .copied()
            .chain(part(true))
            .chain(part(false))
            .chain(order[last + 1..].iter().copied())
            .collect(),
    )
}
