//! Circuits exchanged so that bytes pass few of them: two circuits of a step give each other their heads where that
//! lowers the sum of bytes times hops over all pairs.
//!
//! The sum divided by the number of circuits is the mean load of any flow over shortest paths. A rank that sends or
//! receives much by itself has little room for others' blocks, so that passing it counts as more than one hop.
//!
//! Rows of bits tell which ranks are reached from a rank within some hops, from some step on. An exchange changes few
//! of them, and only the bits that change are added up.

use std::time::Instant;

use model::Rank;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::rows::{Row, add, ranks_of, set, without};
use crate::cutoffs::unequal_waiting::MOST_TRIED;
use crate::unequal::demand::Demand;
use crate::unequal::pursuit::is_past;
use crate::unequal::wiring::Wiring;

/// Parts of the mean room for others' blocks below which passing a rank counts as a hop more, and as two more.
const LITTLE_ROOM: [f64; 2] = [0.5, 0.2];
/// Trials between two looks at whether the search is to be interrupted.
const LOOKS: usize = 256;

/// The topologies after exchanges drawn at random in the steps from `first` on, of which those are kept that lower the
/// sum of bytes times hops; so many are tried for each circuit of a step, while there is time. Unchanged for more ranks
/// than a row holds.
pub(super) fn nearer(
    demand: &Demand,
    wirings: &[Wiring],
    first: usize,
    (of_a_circuit, until): (usize, Option<Instant>),
    random: &mut ChaCha8Rng,
) -> Vec<Wiring> {
    let trials = ((of_a_circuit * wirings[0].circuits()).min(MOST_TRIED / demand.ranks()), until);
    match demand.ranks().div_ceil(64) {
        1 => exchanged(Reach::<1>::new(demand, wirings), first, trials, random),
        2 => exchanged(Reach::<2>::new(demand, wirings), first, trials, random),
        3..=4 => exchanged(Reach::<4>::new(demand, wirings), first, trials, random),
        5..=8 => exchanged(Reach::<8>::new(demand, wirings), first, trials, random),
        9..=16 => exchanged(Reach::<16>::new(demand, wirings), first, trials, random),
        _ => wirings.to_vec(),
    }
}

fn exchanged<const WORDS: usize>(
    mut reach: Reach<'_, WORDS>,
    first: usize,
    (trials, until): (usize, Option<Instant>),
    random: &mut ChaCha8Rng,
) -> Vec<Wiring> {
    let circuits = reach.wirings[0].circuits();
    if first == reach.wirings.len() || circuits == 0 {
        return reach.wirings;
    }
    for trial in 0..trials {
        if trial % LOOKS == 0 {
            interruption::check();
            if is_past(until) {
                break;
            }
        }
        let step = random.random_range(first..reach.wirings.len());
        let (one, other) = (random.random_range(0..circuits), random.random_range(0..circuits));
        if reach.exchange(step, one, other).is_some_and(|more| more >= 0.0) {
            reach.undo();
        }
    }
    reach.wirings
}

/// Topologies, one a step, and the ranks that are reached on them.
struct Reach<'a, const WORDS: usize> {
    demand: &'a Demand,
    wirings: Vec<Wiring>,
    most_hops: usize,
    /// By rank, the hops that a circuit to it counts for where a path goes on from there.
    passing: Vec<usize>,
    /// `[step][hops][rank]`: the ranks that are reached within this many hops, from this step on.
    rows: Vec<Row<WORDS>>,
    /// `[step][rank]`: the ranks that have a circuit to this one.
    tails: Vec<Row<WORDS>>,
    /// `[step][hops]`: the ranks whose rows the last exchange changed.
    changed: Vec<Row<WORDS>>,
    /// Places of the rows that the last exchange changed, and what they were.
    before: Vec<(usize, Row<WORDS>)>,
    /// Step and circuits of the last exchange.
    last: (usize, usize, usize),
}

impl<'a, const WORDS: usize> Reach<'a, WORDS> {
    fn new(demand: &'a Demand, wirings: &[Wiring]) -> Self {
        let (ranks, steps) = (demand.ranks(), wirings.len());
        let most_hops = hops_to_all(ranks, wirings[0].ports()) + 1;
        let mut reach = Self {
            demand,
            wirings: wirings.to_vec(),
            most_hops,
            passing: vec![1; ranks],
            rows: vec![[0; WORDS]; steps * (most_hops + 1) * ranks],
            tails: vec![[0; WORDS]; steps * ranks],
            changed: vec![[0; WORDS]; steps * (most_hops + 1)],
            before: Vec::new(),
            last: (0, 0, 0),
        };
        for (step, wiring) in wirings.iter().enumerate() {
            for tail in 0..ranks {
                wiring
                    .out(tail as Rank)
                    .for_each(|(_, head)| set(&mut reach.tails[step * ranks + head as usize], tail));
            }
        }
        reach.set_rows();
        reach.passing = passing(demand, reach.bytes_hops());
        reach.set_rows();
        reach
    }

    /// Sets all rows.
    fn set_rows(&mut self) {
        for step in (0..self.wirings.len()).rev() {
            for hops in 0..=self.most_hops {
                for rank in 0..self.demand.ranks() {
                    let at = self.at(step, hops, rank);
                    self.rows[at] = self.row(step, hops, rank);
                }
            }
        }
    }

    /// Place of a row.
    fn at(&self, step: usize, hops: usize, rank: usize) -> usize {
        (step * (self.most_hops + 1) + hops) * self.demand.ranks() + rank
    }

    /// The row of a rank, from those of fewer hops and of the next step.
    fn row(&self, step: usize, hops: usize, rank: usize) -> Row<WORDS> {
        let mut row = [0; WORDS];
        set(&mut row, rank);
        if hops == 0 {
            return row;
        }
        if step + 1 < self.wirings.len() {
            add(&mut row, &self.rows[self.at(step + 1, hops, rank)]);
        }
        for (_, head) in self.wirings[step].out(rank as Rank) {
            // A path that ends at the head counts it as one hop: the head is in its own row of no hops.
            let left = hops.saturating_sub(self.passing[head as usize]);
            add(&mut row, &self.rows[self.at(step, left, head as usize)]);
        }
        row
    }

    /// The sum of bytes times hops over m.
    fn bytes_hops(&self) -> f64 {
        let mut sum = 0.0;
        for hops in 0..=self.most_hops {
            for src in 0..self.demand.ranks() {
                let row = &self.rows[self.at(0, hops, src)];
                let is_left = |dst: &usize| row[dst / 64] >> (dst % 64) & 1 == 0;
                let left: f64 = (0..self.demand.ranks()).filter(is_left).map(|dst| self.demand.sent_by(src)[dst]).sum();
                sum += self.weight(hops) * left;
            }
        }
        sum
    }

    /// Hops that a byte counts for in addition if it has not arrived within this many: one, or as many as there are
    /// ranks if these are the most.
    fn weight(&self, hops: usize) -> f64 {
        if hops == self.most_hops { self.demand.ranks() as f64 } else { 1.0 }
    }

    /// Lets two circuits give each other their heads, and tells by how much that raises the sum of bytes times hops, over
    /// m; `None` where they cannot.
    fn exchange(&mut self, step: usize, one: usize, other: usize) -> Option<f64> {
        if !self.exchange_heads(step, one, other) {
            return None;
        }
        self.last = (step, one, other);
        self.before.clear();
        self.changed.fill([0; WORDS]);
        let mut more = 0.0;
        for at_step in (0..=step).rev() {
            for hops in 1..=self.most_hops {
                let mut may_change = self.may_change(at_step, hops);
                if at_step == step {
                    [one, other].iter().for_each(|circuit| set(&mut may_change, circuit / self.wirings[step].ports()));
                }
                for rank in ranks_of(may_change) {
                    let (at, row) = (self.at(at_step, hops, rank), self.row(at_step, hops, rank));
                    let old = self.rows[at];
                    if old == row {
                        continue;
                    }
                    if at_step == 0 {
                        let sent = self.demand.sent_by(rank);
                        let bytes = |of: Row<WORDS>| ranks_of(of).map(|dst| sent[dst]).sum::<f64>();
                        more += self.weight(hops) * (bytes(without(&old, &row)) - bytes(without(&row, &old)));
                    }
                    self.before.push((at, old));
                    self.rows[at] = row;
                    set(&mut self.changed[at_step * (self.most_hops + 1) + hops], rank);
                }
            }
        }
        Some(more)
    }

    /// Ranks whose rows may have to change, because rows that they depend on have.
    fn may_change(&self, step: usize, hops: usize) -> Row<WORDS> {
        let changed = |step: usize, hops: usize| self.changed[step * (self.most_hops + 1) + hops];
        let mut ranks = if step + 1 < self.wirings.len() { changed(step + 1, hops) } else { [0; WORDS] };
        for passing in 1..=hops.min(1 + LITTLE_ROOM.len()) {
            for head in ranks_of(changed(step, hops - passing)).filter(|head| self.passing[*head] == passing) {
                add(&mut ranks, &self.tails[step * self.demand.ranks() + head]);
            }
        }
        ranks
    }

    /// Takes the last exchange back.
    fn undo(&mut self) {
        let (step, one, other) = self.last;
        self.exchange_heads(step, one, other);
        self.before.iter().for_each(|(at, row)| self.rows[*at] = *row);
    }

    /// Lets two circuits give each other their heads; false where they cannot.
    fn exchange_heads(&mut self, step: usize, one: usize, other: usize) -> bool {
        let wiring = &mut self.wirings[step];
        if !wiring.exchange_heads(one, other) {
            return false;
        }
        for (circuit, former) in [(one, other), (other, one)] {
            let (tail, heads) = (wiring.tail(circuit), [wiring.head(circuit), wiring.head(former)]);
            for head in heads.into_iter().flatten() {
                let tails = &mut self.tails[step * self.demand.ranks() + head as usize];
                // Another circuit may lead there in parallel.
                let has_circuit = wiring.out(tail).any(|(_, other)| other == head);
                let (word, bit) = (&mut tails[tail as usize / 64], 1 << (tail % 64));
                if has_circuit { *word |= bit } else { *word &= !bit }
            }
        }
        true
    }
}

/// The least number of hops within which this many ranks can be reached.
fn hops_to_all(ranks: usize, ports: usize) -> usize {
    let (mut hops, mut reached, mut last) = (0, 1, 1);
    while reached < ranks && hops < ranks {
        last *= ports;
        reached += last;
        hops += 1;
    }
    hops
}

/// By rank, the hops that a circuit to it counts for where a path goes on from there. The room of a rank is what the
/// links of each carry on average, or those of the busiest at least, less what it sends or receives itself.
fn passing(demand: &Demand, bytes_hops: f64) -> Vec<usize> {
    let ranks = demand.ranks();
    let (mut sends, mut receives) = (vec![0.0; ranks], vec![0.0; ranks]);
    for (src, dst) in demand.pairs() {
        sends[src as usize] += demand.share(src, dst);
        receives[dst as usize] += demand.share(src, dst);
    }
    let own: Vec<f64> = sends.iter().zip(&receives).map(|(sends, receives)| f64::max(*sends, *receives)).collect();
    let busiest = own.iter().copied().fold(0.0, f64::max);
    let carried = own.iter().sum::<f64>() + bytes_hops - sends.iter().sum::<f64>();
    let room: Vec<f64> = own.iter().map(|own| busiest.max(carried / ranks as f64) - own).collect();
    let mean_room = room.iter().sum::<f64>() / ranks as f64;
    room.iter().map(|room| 1 + LITTLE_ROOM.iter().filter(|part| *room < **part * mean_room).count()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unequal::waiting::bases;
    use model::Piece;
    use proptest::prelude::*;

    const TRIALS: (usize, Option<Instant>) = (160, None);

    /// The sum of bytes times hops by shortest paths, pair by pair.
    fn by_shortest_paths(reach: &Reach<'_, 1>) -> f64 {
        let ranks = reach.demand.ranks();
        let mut sum = 0.0;
        for src in 0..ranks {
            let mut to_pass = vec![usize::MAX / 2; ranks];
            let mut to_end = to_pass.clone();
            (to_pass[src], to_end[src]) = (0, 0);
            for wiring in &reach.wirings {
                for (tail, head) in (0..ranks).flat_map(|_| circuits(wiring)) {
                    to_pass[head] = to_pass[head].min(to_pass[tail] + reach.passing[head]);
                    to_end[head] = to_end[head].min(to_pass[tail] + 1);
                }
            }
            for (dst, hops) in to_end.into_iter().enumerate() {
                let counted = if hops <= reach.most_hops { hops } else { reach.most_hops + ranks };
                sum += reach.demand.sent_by(src)[dst] * counted as f64;
            }
        }
        sum
    }

    fn circuits(wiring: &Wiring) -> impl Iterator<Item = (usize, usize)> + '_ {
        let joined = |circuit| Some((wiring.tail(circuit) as usize, wiring.head(circuit)? as usize));
        (0..wiring.circuits()).filter_map(joined)
    }

    /// Circuits out of every rank and into it.
    fn degrees(wiring: &Wiring) -> [Vec<usize>; 2] {
        let mut degrees = [vec![0; wiring.ranks()], vec![0; wiring.ranks()]];
        for (tail, head) in circuits(wiring) {
            degrees[0][tail] += 1;
            degrees[1][head] += 1;
        }
        degrees
    }

    prop_compose! {
        /// A matrix and topologies for some steps, each of ports that are random permutations with some ranks dark.
        fn cases()(ranks in 2usize..9, ports in 1usize..4, steps in 1usize..4)(
            shares in prop::collection::vec(prop_oneof![Just(0.0), 0.01f64..1.0], ranks * ranks),
            heads in prop::collection::vec(Just((0..ranks as Rank).collect::<Vec<_>>()).prop_shuffle(), steps * ports),
            (ranks, ports) in Just((ranks, ports)),
        ) -> (Demand, Vec<Wiring>) {
            let pieces: Vec<Piece> = shares.iter().enumerate().map(|(pair, &share)| {
                Piece { src: (pair / ranks) as Rank, dst: (pair % ranks) as Rank, share }
            }).collect();
            let wiring = |heads: &[Vec<Rank>]| {
                let mut wiring = Wiring::dark(ranks, ports);
                for (tail, &head) in heads.iter().flat_map(|heads| heads.iter().enumerate()) {
                    if tail != head as usize {
                        wiring.join(tail as Rank, head);
                    }
                }
                wiring
            };
            (Demand::of(ranks as u32, &pieces), heads.chunks(ports).map(wiring).collect())
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(draws::cases(64)))]

        #[test]
        fn an_exchange_changes_the_sum_as_shortest_paths_say(
            (demand, wirings) in cases(), exchanges in prop::collection::vec((0usize..3, 0usize..24, 0usize..24), 1..12),
        ) {
            let mut reach = Reach::<1>::new(&demand, &wirings);
            for (step, one, other) in exchanges {
                let before = by_shortest_paths(&reach);
                prop_assert!((reach.bytes_hops() - before).abs() < 1e-9);
                let (step, circuits) = (step % wirings.len(), wirings[0].circuits());
                let (rows, tails) = (reach.rows.clone(), reach.tails.clone());
                let Some(more) = reach.exchange(step, one % circuits, other % circuits) else { continue };
                prop_assert!((by_shortest_paths(&reach) - before - more).abs() < 1e-9);
                if more >= 0.0 {
                    reach.undo();
                    prop_assert_eq!((&reach.rows, &reach.tails), (&rows, &tails));
                }
            }
        }

        #[test]
        fn bytes_pass_no_more_circuits_and_ports_keep_theirs((demand, wirings) in cases(), first in 0usize..2) {
            let first = first.min(wirings.len());
            let made = nearer(&demand, &wirings, first, TRIALS, &mut bases::seeded(0));
            prop_assert_eq!(&made, &nearer(&demand, &wirings, first, TRIALS, &mut bases::seeded(0)));
            prop_assert_eq!(&made[..first], &wirings[..first]);
            for (wiring, before) in made.iter().zip(&wirings) {
                prop_assert_eq!(degrees(wiring), degrees(before));
                prop_assert!(circuits(wiring).all(|(tail, head)| tail != head));
            }
            let mut reach = Reach::<1>::new(&demand, &wirings);
            let before = by_shortest_paths(&reach);
            reach.wirings = made;
            prop_assert!(by_shortest_paths(&reach) <= before + 1e-9);
        }
    }

    /// By hand: on two ports the ring both ways brings each of these bytes over two hops; each has a circuit in the best
    /// topology, in which the second ports are free for any ring.
    #[test]
    fn pairs_that_send_most_get_circuits() {
        let ranks = 6;
        let piece = |src: Rank| Piece { src, dst: (src + 2) % ranks, share: 1.0 };
        let demand = Demand::of(ranks, &(0..ranks).map(piece).collect::<Vec<_>>());
        let both_ways = Wiring::rewired(6, 2, |rank| [(rank + 1) % ranks, (rank + ranks - 1) % ranks]);
        let made = nearer(&demand, &[both_ways], 0, TRIALS, &mut bases::seeded(0));
        assert!((0..ranks).all(|src| made[0].out(src).any(|(_, head)| head == (src + 2) % ranks)), "{made:?}");
    }
}
