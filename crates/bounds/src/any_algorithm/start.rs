//! A fabric that starts on some topology: a schedule stays on it throughout, or changes once at least.
//!
//! Staying, the hops of all steps together are at least its diameter, since something of every rank must reach every
//! other. Whatever circuits X bytes have to cross, of which there are c, the busiest of them carries X/c over all steps
//! together, and so do the busiest circuits of the steps added up. Three such counts hold on every multigraph, however
//! uneven:
//!
//! - all circuits together carry every use of a link that the collective needs ([`spreading_on`](crate::spreading_on));
//! - the circuits *out of* a rank carry what has to leave it;
//! - the circuits *into* a rank carry what has to enter it.
//!
//! A rank need not have as many circuits out as in, so the last two are not one. In blocks of m/n, with n ranks, at
//! each rank at least:
//!
//! | collective | leave | enter | why |
//! |---|---|---|---|
//! | AllGather | 1 | n − 1 | its block; the blocks of the others |
//! | ReduceScatter | n − 1 | 1 | its parts of the others' sums; something of its own sum |
//! | AllReduce, one step | n(n − 1) | n(n − 1) | one step sums up nothing: its whole buffer goes to every other |
//! | AllReduce, more steps | n | n | each part of the buffer has something from it, and something from others |
//! | All-to-All | n − 1 | n − 1 | a block for every other, one from every other |
//! | Broadcast | n, the root | n, the others | the whole buffer |
//! | Scatter | n − 1, the root | 1, the others | a share for every other |
//!
//! An AllReduce of several steps need not bring 2(n − 1) blocks out of or into a rank, as one of equal shares does: a
//! rank with few circuits may sum up nothing, send its buffer once and take the sum in once. Only over all ranks
//! together there are 2(n − 1) uses of links for every block ([`all_reduce`](super::all_reduce)).
//!
//! A Broadcast or Scatter has one root, which is unknown here, so the bound is the least over all ranks that reach all
//! others. Reduce and Gather are Broadcast and Scatter backwards, on circuits turned round.
//!
//! Blocks of different sizes: [`start_unequal`](super::start_unequal).

use model::{Collective, Topology};

use super::gather::through_the_root;
use super::passes::class;
use crate::cutoffs::any_algorithm_start::{MOST_FARTHEST, MOST_ROOTS};
use crate::known_topology::{KnownTopology, MOST_DISTANCES, Root};
use crate::rates::Rates;
use crate::statement::{Statement, largest};
use crate::step_divisions::{Division, Known, cheapest};
use crate::step_loads::StepLoads;

/// Blocks that leave a rank, and that enter it, at least, in this many steps.
fn through_a_rank(collective: Collective, ranks: f64, steps: u32) -> (f64, f64) {
    let others = ranks - 1.0;
    match collective {
        Collective::AllGather => (1.0, others),
        Collective::ReduceScatter => (others, 1.0),
        Collective::AllReduce if steps == 1 => (ranks * others, ranks * others),
        Collective::AllReduce => (ranks, ranks),
        Collective::AllToAll => (others, others),
        // From any one root, or to it: bounded by `stays_rooted`.
        Collective::Broadcast | Collective::Reduce | Collective::Gather | Collective::Scatter => (0.0, 0.0),
    }
}

/// The bound for equal blocks where nothing is ever changed; `None` where that serves no algorithm.
pub(super) fn stays(collective: Collective, topology: &Topology, rates: &Rates, buffer_s: f64) -> Option<Statement> {
    let known = KnownTopology::new(topology);
    let distances = known.distances(MOST_DISTANCES)?;
    let ranks = f64::from(rates.ranks);
    let block_s = buffer_s / ranks;
    // One step sums up nothing on the way, more do.
    let fewest = if collective == Collective::AllReduce { 2 } else { 1 };
    let most = if collective == Collective::AllToAll { 1 } else { (distances.uses.len() as u32).max(fewest) };
    let with_steps = |steps: u32| {
        let used = distances.uses[(steps as usize).min(distances.uses.len()) - 1];
        // By all blocks.
        let uses = match collective {
            Collective::AllToAll => distances.sum,
            Collective::AllReduce if steps == 1 => ranks * distances.sum,
            Collective::AllReduce => ranks * (used + ranks - 1.0),
            _ => ranks * used,
        };
        let (leave, enter) = through_a_rank(collective, ranks, steps);
        let loads = [uses / known.circuits(), leave / known.fewest_out(), enter / known.fewest_into()];
        let transmission_s = block_s * loads.into_iter().fold(0.0, f64::max);
        staying(collective, rates, steps, distances.diameter, transmission_s)
    };
    (1..=most).map(with_steps).min_by(|a, b| a.seconds().total_cmp(&b.seconds()))
}

/// The bound for a collective with a root where nothing is ever changed; `None` where no rank reaches all others, or
/// none is reached by all.
pub(super) fn stays_rooted(
    collective: Collective,
    topology: &Topology,
    rates: &Rates,
    buffer_s: f64,
) -> Option<Statement> {
    let backwards = matches!(collective, Collective::Reduce | Collective::Gather);
    let turned = if backwards { topology.reversed().ok() } else { None };
    let known = KnownTopology::new(turned.as_ref().unwrap_or(topology));
    let scatters = matches!(collective, Collective::Gather | Collective::Scatter);
    // A Scatter needs no second step, and puts on circuits what leaves the root.
    let uses = if scatters { vec![0.0] } else { known.uses_of_a_root() };
    let roots = known.roots(MOST_DISTANCES);
    let is_looked_at = |root: &Root| {
        rates.charges_hops && rates.ranks > 2 && roots.len() <= MOST_ROOTS && root.farthest <= MOST_FARTHEST
    };
    let of_root = |root: &Root| {
        let through = match scatters {
            true => through_the_root(rates.ranks) / f64::from(root.out),
            false => 1.0 / f64::from(root.out.min(root.into_others)),
        };
        let with_steps = |(steps, used): (u32, &f64)| {
            let transmission_s = buffer_s * f64::max(used / known.circuits(), through);
            staying(collective, rates, steps, root.farthest, transmission_s)
        };
        let least = (1..).zip(&uses).map(with_steps).min_by(|a, b| a.seconds().total_cmp(&b.seconds()))?;
        let loads = (!scatters && is_looked_at(root)).then(|| StepLoads::on(&known, root, &uses)).flatten();
        let of = |of: Division| staying(collective, rates, of.steps, of.hops, buffer_s * of.load);
        let by_steps = |steps: u32| uses[(steps as usize).min(uses.len()) - 1] / known.circuits();
        let known = Known { by_hops: &|_| through, by_steps: &by_steps };
        let divided =
            loads.and_then(|loads| cheapest(&loads, &|division| of(division).seconds(), &known, f64::INFINITY));
        largest(divided.map(of).into_iter().chain([least]))
    };
    roots.iter().filter_map(of_root).min_by(|a, b| a.seconds().total_cmp(&b.seconds()))
}

/// The bound of a number of steps with a least number of hops and this load on the busiest circuits.
pub(super) fn staying(
    collective: Collective,
    rates: &Rates,
    steps: u32,
    farthest: u32,
    transmission_s: f64,
) -> Statement {
    let hops = if rates.charges_hops { farthest.max(steps) } else { steps };
    let (propagation_s, transmission_s) = rates.charged(rates.hop_s * f64::from(hops), transmission_s);
    Statement {
        name: "staying",
        class: class(collective, rates.ports),
        why: "while the initial topology stays: as many hops as between its ranks farthest apart, and all bytes on \
            its circuits",
        startup_s: rates.startup_s * f64::from(steps),
        propagation_s,
        transmission_s,
        reconfiguration_s: 0.0,
        topologies: 1,
        steps,
        segments: Vec::new(),
    }
}
