//! AllGather on a ring of any number of ranks in few steps: holders of a block halve the gaps between
//! them.
//!
//! Digits divide the ranks by their factors, which a prime number has not. Here every block spreads alike: the ranks
//! that hold it cut the ring into gaps, and in each step some ranks in each gap get it from the nearer end, or, one
//! way, from the end behind them. With F(s, g) the least links that a gap of g hops uses in s steps, and c(p) what the
//! p-th rank of it is away from where its block comes from,
//!
//! F(s, g) = min over 0 < p₁ < p₂ < … < g of Σ c(pᵢ) + Σ F(s−1, pᵢ₊₁ − pᵢ),
//!
//! and a block's own rank is both ends of a gap of n. No other way uses fewer links in this many steps. A ReduceScatter
//! is the same backwards, an AllReduce both.

use model::{Chunks, Collective, Op, Rank, Result, Step, Topology, Transfer, Translations};

use crate::composition::Composition;
use crate::cutoffs::gaps::{MOST_RANKS, MOST_STEPS};
use crate::prices::Prices;
use crate::relative::{Circuits, Sums};

/// The best AllGather, ReduceScatter or AllReduce that stays on a ring of these circuits; `None` for other collectives,
/// circuits that are no ring, or too many ranks.
///
/// # Errors
/// The errors of [`Step::new`].
pub(crate) fn compose(
    collective: Collective,
    ring: &Topology,
    circuits: &Circuits,
    prices: &Prices,
) -> Result<Option<Composition>> {
    let ranks = ring.ranks();
    let both_ways = match &circuits[..] {
        [(1, _)] => false,
        [(1, _), (-1, _)] => true,
        _ => return Ok(None),
    };
    let passes: &[bool] = match collective {
        Collective::AllGather => &[false],
        Collective::ReduceScatter => &[true],
        Collective::AllReduce => &[true, false],
        _ => return Ok(None),
    };
    if !(3..=MOST_RANKS).contains(&ranks) {
        return Ok(None);
    }
    let gaps = Gaps::new(ranks as usize, both_ways);
    let fewest = circuits.iter().map(|(_, count)| *count).min().unwrap_or(1);
    let links = f64::from(if both_ways { 2 * fewest } else { fewest });
    let seconds = |steps: &usize| {
        let used = gaps.least[*steps][ranks as usize] / links;
        prices.sums_s(&Sums { steps: *steps as u32, hops: 0.0, load: used, amount: used }, 1.0)
    };
    let Some(steps) = (1..=MOST_STEPS).min_by(|a, b| seconds(a).total_cmp(&seconds(b))) else { return Ok(None) };
    let spread = gaps.spread(steps);
    let chunks = Chunks::even(collective, ranks, 1)?;
    let mut made = Vec::new();
    for &backwards in passes {
        let pass = spread.iter().map(|sent| step(sent, &chunks, backwards));
        let mut pass = pass.collect::<Result<Vec<Step>>>()?;
        if backwards {
            pass.reverse();
        }
        made.extend(pass);
    }
    Composition::new(chunks, made, vec![ring.clone()]).map(Some)
}

/// A step in which the rank `to` places ahead of a block's own gets it from the rank `from` places ahead; of a
/// ReduceScatter, backwards.
fn step(sent: &[(usize, usize)], chunks: &Chunks, backwards: bool) -> Result<Step> {
    let ranks = chunks.ranks() as usize;
    let mut by_peer: Vec<Vec<u32>> = vec![Vec::new(); ranks];
    for &(from, to) in sent {
        let (here, there) = if backwards { (to, from) } else { (from, to) };
        by_peer[(there + ranks - here) % ranks].push(chunks.owned(((ranks - here) % ranks) as Rank, 0));
    }
    let op = if backwards { Op::Reduce } else { Op::Copy };
    let transfers = (0..).zip(by_peer).filter(|(_, blocks)| !blocks.is_empty());
    let transfers = transfers.map(|(dst, chunks)| Transfer { src: 0, dst, op, chunks });
    Step::new(Translations::cyclic(ranks as u32), transfers, chunks)
}

/// The least for gaps.
struct Gaps {
    both_ways: bool,
    /// F, `[s][g]`.
    least: Vec<Vec<f64>>,
}

impl Gaps {
    /// For gaps of up to `ranks` hops. O(ranks³) a step.
    fn new(ranks: usize, both_ways: bool) -> Self {
        let none = (0..=ranks).map(|gap| if gap <= 1 { 0.0 } else { f64::INFINITY }).collect();
        let mut gaps = Self { both_ways, least: vec![none] };
        for steps in 1..=MOST_STEPS {
            interruption::check();
            let of_gap = |gap: usize| if gap <= 1 { 0.0 } else { gaps.placed(steps, gap)[gap].0 };
            let least = (0..=ranks).map(of_gap).collect();
            gaps.least.push(least);
        }
        gaps
    }

    /// The distance of the rank this many places from the beginning of a gap from where its block comes from; 0 at its
    /// ends.
    fn away(&self, gap: usize, at: usize) -> usize {
        match self.both_ways {
            true => at.min(gap - at),
            false => at % gap,
        }
    }

    /// By places from the beginning of a gap, the least for all before it where the rank there gets the block in the
    /// first of this many steps, and the rank before it that does, or the beginning.
    fn placed(&self, steps: usize, gap: usize) -> Vec<(f64, usize)> {
        let after = &self.least[steps - 1];
        let mut placed: Vec<(f64, usize)> = vec![(0.0, 0)];
        for at in 1..=gap {
            let ways = (0..at).map(|last| (placed[last].0 + after[at - last], last));
            let (least, last) = ways.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f64::INFINITY, 0));
            placed.push((least + self.away(gap, at) as f64, last));
        }
        placed
    }

    /// The transfers of the block of the rank at place 0, (sender, receiver), step by step.
    fn spread(&self, steps: usize) -> Vec<Vec<(usize, usize)>> {
        let ranks = self.least[0].len() - 1;
        let mut sent = vec![Vec::new(); steps];
        let mut open = vec![(0, ranks, steps)];
        while let Some((begin, gap, left)) = open.pop() {
            if gap <= 1 {
                continue;
            }
            let placed = self.placed(left, gap);
            let mut at = gap;
            while at > 0 {
                let last = placed[at].1;
                open.push((begin + last, at - last, left - 1));
                if last > 0 {
                    let from = if self.both_ways && gap - last < last { begin + gap } else { begin };
                    sent[steps - left].push((from % ranks, begin + last));
                }
                at = last;
            }
        }
        sent.retain(|sent| !sent.is_empty());
        sent.iter_mut().for_each(|sent| sent.sort_unstable());
        sent
    }
}

#[cfg(test)]
mod tests {
    use model::{Fabric, Initial, ReconfigurationPolicy, Routing, Shape};

    use super::*;

    fn fabric(ranks: u32, ports: u32, startup_s: f64) -> Fabric {
        Fabric {
            shape: Shape::new(ranks, &[], ports).unwrap(),
            bandwidth_bps: 8e11,
            startup_s,
            barrier_s: 0.0,
            hop_delay_s: 5e-7,
            reconfiguration: ReconfigurationPolicy::constant(1e-3),
            initial: Initial::Free,
            optics: None,
            electrical: None,
        }
    }

    /// Every block reaches all, once, over as many links as the least is, evenly spread.
    #[test]
    fn every_block_reaches_all_over_the_least_links() {
        for (ranks, ports, one_way) in
            [(3, 2, false), (7, 2, false), (12, 4, false), (13, 1, true), (23, 2, false), (47, 4, false)]
        {
            for startup_s in [1e-8, 1e-6, 1e-4] {
                let fabric = fabric(ranks, ports, startup_s);
                let prices = Prices::new(&fabric, 1 << 22);
                let ring = topologies::build("ring", &fabric.shape).unwrap();
                let circuits: Circuits = if one_way { vec![(1, ports)] } else { vec![(1, ports / 2), (-1, ports / 2)] };
                for collective in [Collective::AllGather, Collective::ReduceScatter, Collective::AllReduce] {
                    let found = compose(collective, &ring, &circuits, &prices).unwrap().unwrap();
                    let report = verify::schedule(&found.schedule);
                    assert!(report.first_failure().is_none(), "{ranks} {collective:?} {:?}", report.first_failure());
                }
                let found = compose(Collective::AllGather, &ring, &circuits, &prices).unwrap().unwrap();
                let network = fronts::RoutingNetwork::new(&ring);
                let steps = found.schedule.steps();
                let loads = steps.iter().map(|step| {
                    let front = network.front(step.traffic(), Routing::ConcurrentFlow).unwrap();
                    front.points().last().unwrap().load * step.share()
                });
                let gaps = Gaps::new(ranks as usize, !one_way);
                let least = gaps.least[steps.len()][ranks as usize] / f64::from(ranks * ports);
                let found = loads.sum::<f64>();
                assert!(found >= least * (1.0 - 1e-9) && found <= 1.2 * least, "{ranks} {startup_s} {found} {least}");
            }
        }
    }

    #[test]
    fn gaps_by_hand() {
        let gaps = Gaps::new(9, true);
        // All at once: 1 + 2 + 3 + 4, twice. In two steps the thirds, 3 + 3, and then one hop each, 6.
        assert_eq!([gaps.least[1][9], gaps.least[2][9]], [20.0, 12.0]);
        let one_way = Gaps::new(9, false);
        // 1 + … + 8; in two steps c + 1 ranks cost c each: two cost 1, three 2, and three 3.
        assert_eq!([one_way.least[1][9], one_way.least[2][9]], [36.0, 17.0]);
    }
}
