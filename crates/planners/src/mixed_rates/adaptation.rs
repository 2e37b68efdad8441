//! A choice for alike ports moved onto ports of different rates.

use std::ops::Range;

use model::{Collective, PortRates, Result, Topology};

use super::{link_bytes, port_assignment};
use crate::cutoffs::mixed_rates::{FEW_DEALINGS, MOST_DEALINGS, MOST_GPUS_OF_ALL_PAIRS};
use crate::moved_choice::{on_fabric, priced, used_by};
use crate::{Choice, Problem};

/// The choice on ports of these rates: its steps on its topologies, whose circuits are dealt out to the ports.
///
/// # Errors
/// When some transfer of a step has no path on its topology.
pub(super) fn moved(choice: &Choice, problem: &Problem, rates: &PortRates) -> Result<Choice> {
    let most = if has_large_flows(problem) { FEW_DEALINGS } else { MOST_DEALINGS };
    moved_to(choice, problem, |topology, steps| {
        let mut ways = port_assignment::all(topology, rates, &link_bytes::by_link(choice, steps)?)?;
        ways.truncate(most);
        Ok(ways)
    })
}

/// Whether flows of the problem's collective take seconds on circuits that are not alike.
pub(super) fn has_large_flows(problem: &Problem) -> bool {
    problem.schedule().collective() == Collective::AllToAll && problem.fabric.shape.gpus() > MOST_GPUS_OF_ALL_PAIRS
}

/// [`moved`], where `ways` has the ways to deal out the circuits of a topology of some steps.
pub(super) fn moved_to(
    choice: &Choice,
    problem: &Problem,
    ways: impl Fn(&Topology, &[usize]) -> Result<Vec<Topology>>,
) -> Result<Choice> {
    let (used, of_step) = used_by(choice);
    let start = problem.fabric.initial.given();
    let mut topologies: Vec<Topology> = Vec::new();
    let mut dealt: Vec<Range<usize>> = Vec::new();
    for (place, &candidate) in used.iter().enumerate() {
        let topology = choice.problem.table.candidate(candidate);
        let steps: Vec<usize> = (0..of_step.len()).filter(|&step| of_step[step] == place).collect();
        let mut ways = ways(topology, &steps)?;
        let as_it_starts = start.filter(|start| (*start).clone().on_any_ports().same_links(topology));
        ways.extend(as_it_starts.filter(|start| !ways.iter().any(|way| way.same_links(start))).cloned());
        dealt.push(topologies.len()..topologies.len() + ways.len());
        topologies.extend(ways);
    }
    let mut own = on_fabric(choice, problem, choice.problem.schedule().clone(), topologies)?;
    link_bytes::give_routes(choice, &mut own, &of_step, &dealt)?;
    let mut candidates = vec![0; of_step.len()];
    for run in runs(&of_step, own.is_repeated()) {
        let takes_s = |candidate: usize| {
            let step_s =
                |&step: &usize| own.step_cost(step, candidate).map_or(f64::INFINITY, |(cost, ..)| cost.total_s());
            let change_s = if run[0] == 0 { own.charges_of(&[candidate], &[0.0])[0] } else { 0.0 };
            change_s + run.iter().map(step_s).sum::<f64>()
        };
        let ways = dealt[of_step[run[0]]].clone();
        let timed = ways.map(|candidate| (takes_s(candidate), candidate));
        let least = timed.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(0, |(_, candidate)| candidate);
        run.into_iter().for_each(|step| candidates[step] = least);
    }
    priced(choice, own, candidates)
}

/// The steps of each run on one topology. Where the plan is repeated, its last run goes on in its first, if both are on
/// the same topology.
fn runs(of_step: &[usize], is_repeated: bool) -> Vec<Vec<usize>> {
    let steps: Vec<usize> = (0..of_step.len()).collect();
    let mut runs: Vec<Vec<usize>> = steps.chunk_by(|&a, &b| of_step[a] == of_step[b]).map(<[usize]>::to_vec).collect();
    if is_repeated && runs.len() > 1 && of_step.first() == of_step.last() {
        let last = runs.pop().unwrap_or_default();
        runs[0].extend(last);
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_in_a_row_on_one_topology_are_a_run() {
        assert_eq!(runs(&[0, 0, 1, 0], false), [vec![0, 1], vec![2], vec![3]]);
        assert_eq!(runs(&[0, 0, 1, 0], true), [vec![0, 1, 3], vec![2]]);
        assert_eq!(runs(&[0, 0], true), [vec![0, 1]]);
    }
}
