//! The best topologies and flow for a matrix: several numbers of steps, several bases for each.

use super::bases::{self, Base, Heats};
use super::candidate::Candidate;
use super::made::made;
use super::task::Task;
use super::{further, template};
use crate::cutoffs::unequal_waiting::{
    ENOUGH, FEW_CLOSELY, MANY_RANKS, TRIALS_OF_A_CIRCUIT, WORTH_EXCHANGING, WORTH_FINISHING,
};

/// Numbers of steps that are tried, while the startups and changes of so many leave anything to gain.
const STEPS: [usize; 9] = [1, 2, 3, 4, 6, 8, 11, 15, 20];
/// Numbers of steps that are left out where ranks are many.
const LEFT_OUT: [usize; 3] = [3, 6, 11];
/// Candidates of one step that get more rounds, and as many of any number of steps.
const CLOSELY: usize = 2;
/// The candidates of least time after the first rounds, by their number of steps, the best first.
#[derive(Default)]
struct Found {
    of_one: Vec<Candidate>,
    of_two: Vec<Candidate>,
    of_more: Vec<Candidate>,
}

impl Found {
    /// Keeps a candidate where it is one of the best `most` of its kind.
    fn keep(&mut self, candidate: Candidate, most: usize) {
        let same = match candidate.wirings.len() {
            1 => &mut self.of_one,
            2 => &mut self.of_two,
            _ => &mut self.of_more,
        };
        same.push(candidate);
        same.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        same.truncate(most);
    }

    /// The best candidates of one step and of two with circuits exchanged. On more steps the circuits for heavy pairs
    /// leave exchanges little to gain.
    fn exchanged(&self, task: &Task<'_>, best_s: f64) -> Vec<Candidate> {
        let of_two = self.of_two.first().filter(|candidate| candidate.seconds <= WORTH_EXCHANGING * best_s);
        let exchanged = |candidate: &Candidate| {
            if task.pursuit.is_over() {
                return None;
            }
            let mut random = bases::seeded(0);
            let wirings = task.nearer(&candidate.wirings, TRIALS_OF_A_CIRCUIT, &mut random);
            Candidate::new(task, wirings, candidate.hops_more, &mut random)
        };
        self.of_one.first().into_iter().chain(of_two).filter_map(exchanged).collect()
    }

    /// The best `most` of one step, and of those of more steps which are worth all rounds.
    fn worth_finishing(self, best_s: f64, most: usize) -> Vec<Candidate> {
        let mut kept: Vec<Candidate> = self.of_two.into_iter().chain(self.of_more).collect();
        kept.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        kept.retain(|candidate| candidate.seconds <= WORTH_FINISHING * best_s);
        kept.truncate(most);
        kept.extend(self.of_one);
        kept
    }
}

/// The best candidate that is found; `None` where none is below `limit_s`. Without a deadline of the pursuit the result
/// is deterministic. With one, the search stops at the deadline; a search that begins with given topologies also uses
/// all of that time.
pub(super) fn best(task: &Task<'_>, limit_s: f64) -> Option<Candidate> {
    let from_given = task.pursuit.from.and_then(|from| template::candidate(task, from));
    let found = match from_given {
        Some(given) => further::best(task, given),
        None => best_made(task, limit_s)?,
    };
    Some(found).filter(|best| best.seconds < limit_s)
}

/// The best candidate on topologies that are made for the matrix.
fn best_made(task: &Task<'_>, limit_s: f64) -> Option<Candidate> {
    let Task { demand, ports, start, prices, .. } = *task;
    let busiest_s = prices.buffer_s * demand.busiest() / ports as f64;
    let least_s = |steps: usize| prices.least_s(steps) + busiest_s;
    let is_large = demand.ranks() >= MANY_RANKS;
    let heats = Heats::of(demand);
    let cooled = heats.cooled(demand);
    let mut random = bases::seeded(0);
    let mut found = Found::default();
    let most = if demand.ranks() >= FEW_CLOSELY { 1 } else { CLOSELY };
    let mut best_s = limit_s;
    'all: for steps in STEPS.into_iter().filter(|steps| !is_large || !LEFT_OUT.contains(steps)) {
        if least_s(steps) >= best_s {
            break;
        }
        for (base, hops_more) in bases_of(steps, ports, start.is_some(), is_large) {
            interruption::check();
            let weights = if matches!(base, Base::Placed(_)) { &cooled } else { demand };
            let wirings = made(task, weights, steps, base, &heats, &mut random);
            let Some(candidate) = Candidate::new(task, wirings, hops_more, &mut random) else { continue };
            if is_large && steps > 2 && candidate.seconds > 1.02 * best_s {
                break 'all;
            }
            best_s = best_s.min(candidate.seconds);
            found.keep(candidate, most);
            if best_s <= ENOUGH * least_s(1) || task.pursuit.is_over() {
                break 'all;
            }
        }
    }
    // Where no change pays, the search finds the same plans of one step. They are finished even while they are slow, so
    // that a plan is never slower than the best one without changes. No plan is faster than its bytes times hops allow.
    let bytes = demand.least_bytes_hops(ports) / (ports * demand.ranks()) as f64;
    if prices.least_s(1) + prices.buffer_s * bytes > best_s {
        found.of_one.clear();
    }
    let is_enough = best_s <= ENOUGH * least_s(1);
    let exchanged = if is_enough { Vec::new() } else { found.exchanged(task, best_s) };
    let mut kept = found.worth_finishing(best_s, most);
    kept.extend(exchanged);
    kept.iter_mut().for_each(|candidate| candidate.finish(task));
    kept.into_iter().min_by(|a, b| a.seconds.total_cmp(&b.seconds))
}

/// Bases that are tried for so many steps, and by how many hops paths of a single step may be longer than its diameter.
fn bases_of(steps: usize, ports: usize, has_start: bool, is_large: bool) -> Vec<(Base, u32)> {
    use Base::{Empty, HeavyRing, Kautz, Placed};
    if has_start {
        return match steps {
            1 => vec![(Empty, 2)],
            2 | 3 => vec![(Empty, 2), (Kautz(ports.min(2)), 2)],
            _ => vec![(Empty, 2)],
        };
    }
    let fewer = ports.max(2) - 1;
    let mut bases = match steps {
        1 if is_large => vec![(Kautz(ports), 1), (Placed(2), 2)],
        1 => vec![
            (Kautz(ports), 1),
            (Kautz(fewer), 2),
            (Kautz(2), 2),
            (HeavyRing, 3),
            (Placed(ports), 1),
            (Placed(ports), 1),
            (Placed(ports), 1),
            (Placed(2), 2),
            (Placed(2), 2),
            (Placed(fewer), 2),
            (Placed(ports), 0),
            (Placed(ports), 0),
        ],
        2 | 3 if is_large => vec![(Kautz(ports), 1), (Placed(2), 1)],
        2 | 3 => vec![(Kautz(ports), 1), (Kautz(2), 1), (Empty, 1), (Placed(ports), 1), (Placed(2), 1)],
        _ if is_large => vec![(Kautz(ports), 1)],
        _ => vec![(Kautz(ports), 1), (Kautz(2), 1), (Empty, 1)],
    };
    bases.retain(|(base, _)| base.ports() <= ports && (steps > 1 || *base != Empty));
    // Places drawn anew may be better; the same graph is not.
    let mut tried: Vec<(Base, u32)> = Vec::new();
    bases.retain(|one| {
        let is_new = matches!(one.0, Placed(_)) || !tried.contains(one);
        tried.push(*one);
        is_new
    });
    bases
}
