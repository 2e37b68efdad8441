//! Chunks over one topology that stays, cut as small and sent in as long steps as suit the fabric's numbers.
//!
//! A step of rounds costs its start-up and hop, and a chunk's time for each round, so few steps, few rounds and small
//! chunks are wanted at once. No spread takes fewer steps than the farthest rank is hops away, nor fewer rounds than the
//! rank that lacks most for its circuits needs to take it in ([`Network::least_rounds`]); where a spread takes both it is the best of
//! its kind, and nothing further is tried. A ReduceScatter is an AllGather backwards on the circuits turned round, an
//! AllReduce both.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use model::{Chunks, Collective, Fabric, Op, Propagation, Rank, Result, Schedule, Step, Topology, Transfer};
use synthesis::{ChunkStep, Length, Network, steps};

use crate::composition::Composition;
use crate::prices::Prices;

/// Name of the algorithm.
pub const SYNTHESIZED: &str = "synthesized";

/// Most parts of a block.
const MOST_PARTS: u32 = 16;

/// Numbers of parts that are tried, those of the least bounds.
const WORTH_A_TRY: usize = 4;

/// Most work of one spread, in chunks that are placed.
const MOST_WORK: u64 = 1 << 18;

/// Links that are looked at in the time in which a chunk is placed.
const LINKS_A_CHUNK: u64 = 48;

/// A spread this little above its bound is good enough.
const CLOSE: f64 = 1.002;

/// One pass over the topology: an AllGather, or a ReduceScatter, whose network is turned round.
struct Pass {
    network: Network,
    origins: Vec<Rank>,
    /// Hops to the farthest rank.
    diameter: u32,
    turned: bool,
}

/// A collective of blocks on a topology that stays.
pub struct Chunked {
    collective: Collective,
    topology: Topology,
    passes: Vec<Pass>,
    /// Seconds of a step of one hop beside its bytes.
    step_s: f64,
    /// Seconds of a block on one circuit.
    block_s: f64,
    kept: Kept,
}

/// How a pass is done: a number of parts and its steps.
#[derive(Clone)]
struct Spread {
    steps: Arc<[ChunkStep]>,
    seconds: f64,
}

/// Spreads that were found, for the points of a sweep: they depend on no rate, delay or size.
pub(crate) type Kept = Arc<Mutex<Vec<((Topology, bool, u32, Length), Arc<[ChunkStep]>)>>>;

/// Chunks that go over a link, of all spreads that are kept.
const MOST_KEPT: usize = 1 << 21;

impl Chunked {
    /// `None` for a collective without blocks of ranks, where some rank cannot be reached, or where ranks are too many.
    /// O(ranks · links) without symmetry.
    pub(crate) fn new(
        kept: &Kept,
        collective: Collective,
        topology: &Topology,
        fabric: &Fabric,
        propagation: Propagation,
        size_bytes: u64,
    ) -> Option<Self> {
        let ways: &[bool] = match collective {
            Collective::AllGather => &[false],
            Collective::ReduceScatter => &[true],
            Collective::AllReduce => &[true, false],
            Collective::AllToAll | Collective::Broadcast => return None,
        };
        if work(topology, 1) > MOST_WORK {
            return None;
        }
        let prices = Prices::new(fabric, propagation, size_bytes);
        let forward = Network::new(topology);
        let mut passes = Vec::new();
        for &turned in ways {
            let network = if turned { forward.turned() } else { forward.clone() };
            let origins = network.translations().representatives();
            let mut diameter = 0;
            for &origin in &origins {
                diameter = diameter.max(network.distances(origin)?.into_iter().max()?);
            }
            passes.push(Pass { network, origins, diameter, turned });
        }
        Some(Self {
            collective,
            topology: topology.clone(),
            passes,
            step_s: prices.one_hop_s(),
            block_s: prices.block_s(),
            kept: kept.clone(),
        })
    }

    /// The topology.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Seconds that it takes at least, without a change to the topology.
    pub fn least_s(&self) -> f64 {
        (1..=MOST_PARTS).map(|parts| self.bound_s(parts)).fold(f64::INFINITY, f64::min)
    }

    fn bound_s(&self, parts: u32) -> f64 {
        self.passes.iter().map(|pass| self.pass_bound_s(pass, parts)).sum()
    }

    fn pass_bound_s(&self, pass: &Pass, parts: u32) -> f64 {
        let rounds = pass.network.least_rounds(&pass.origins, parts).unwrap_or(0);
        self.seconds(pass.diameter, rounds, parts)
    }

    fn seconds(&self, steps: u32, rounds: u32, parts: u32) -> f64 {
        f64::from(steps) * self.step_s + f64::from(rounds) / f64::from(parts) * self.block_s
    }

    /// The best that is found with so much work, in chunks that are placed for a rank: about three a microsecond. None
    /// where one spread alone is more.
    ///
    /// # Errors
    /// Those of [`Step::new`].
    pub fn compose(&self, most_work: u64) -> Result<Option<Composition>> {
        let mut by_bound: Vec<(f64, u32)> = (1..=MOST_PARTS).map(|parts| (self.bound_s(parts), parts)).collect();
        by_bound.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut left = most_work;
        let mut best: Option<(f64, u32, Vec<Spread>)> = None;
        let possible = by_bound.into_iter().filter(|(_, parts)| work(&self.topology, *parts) <= MOST_WORK);
        for (bound_s, parts) in possible.take(WORTH_A_TRY) {
            if best.as_ref().is_some_and(|(least_s, ..)| *least_s <= bound_s * CLOSE) {
                break;
            }
            let spreads = self.passes.iter().map(|pass| self.spread(pass, parts, &mut left));
            let Some(spreads) = spreads.collect::<Option<Vec<Spread>>>() else { continue };
            let total_s = spreads.iter().map(|spread| spread.seconds).sum();
            if best.as_ref().is_none_or(|(least_s, ..)| total_s < *least_s) {
                best = Some((total_s, parts, spreads));
            }
        }
        best.map(|(_, parts, spreads)| self.composition(parts, &spreads)).transpose()
    }

    /// The best spread of a pass for so many parts.
    fn spread(&self, pass: &Pass, parts: u32, left: &mut u64) -> Option<Spread> {
        let bound_s = self.pass_bound_s(pass, parts);
        let startup = (16.0 * self.step_s * f64::from(parts) / self.block_s) as u32;
        let lengths = [
            Length::WhileNoneWaits,
            Length::Worthwhile { startup },
            Length::AtMost(u32::MAX),
            Length::AtMost(8 * parts),
            Length::AtMost(2 * parts),
            Length::AtMost(1),
            Length::AtMost(4 * parts),
        ];
        let mut best: Option<Spread> = None;
        for length in lengths {
            if best.as_ref().is_some_and(|best| best.seconds <= bound_s * CLOSE) {
                break;
            }
            let Some(after) = left.checked_sub(work(&self.topology, parts)) else { break };
            *left = after;
            let steps = self.steps(pass, parts, length)?;
            let rounds = steps.iter().map(|step| step.rounds).sum();
            let seconds = self.seconds(steps.len() as u32, rounds, parts);
            if best.as_ref().is_none_or(|best| seconds < best.seconds) {
                best = Some(Spread { steps, seconds });
            }
        }
        best
    }

    fn steps(&self, pass: &Pass, parts: u32, length: Length) -> Option<Arc<[ChunkStep]>> {
        let lock = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |(topology, turned, of, long): &(Topology, bool, u32, Length)| {
            (*turned, *of, *long) == (pass.turned, parts, length) && *topology == self.topology
        };
        if let Some((_, steps)) = lock().iter().find(|(key, _)| is_it(key)) {
            return Some(steps.clone());
        }
        let found: Arc<[ChunkStep]> = steps(&pass.network, &pass.origins, parts, length)?.into();
        let mut kept = lock();
        kept.push(((self.topology.clone(), pass.turned, parts, length), found.clone()));
        let sent = |steps: &[ChunkStep]| steps.iter().map(|step| step.sent.len()).sum::<usize>();
        while kept.iter().map(|(_, steps)| sent(steps)).sum::<usize>() > MOST_KEPT {
            kept.remove(0);
        }
        Some(found)
    }

    fn composition(&self, parts: u32, spreads: &[Spread]) -> Result<Composition> {
        let chunks = Chunks::even(self.collective, self.topology.ranks(), parts)?;
        let mut steps = Vec::new();
        for (pass, spread) in self.passes.iter().zip(spreads) {
            let made = spread.steps.iter().map(|step| self.step(pass, step, &chunks));
            let mut made: Vec<Step> = made.collect::<Result<_>>()?;
            if pass.turned {
                made.reverse();
            }
            steps.extend(made);
        }
        let schedule = Schedule::new(SYNTHESIZED, chunks, steps)?;
        Ok(Composition { schedule, topologies: vec![self.topology.clone()], over_circuits: true })
    }

    fn step(&self, pass: &Pass, step: &ChunkStep, chunks: &Chunks) -> Result<Step> {
        let symmetry = self.topology.symmetry();
        let mut by_link: BTreeMap<(Rank, Rank), Vec<u32>> = BTreeMap::new();
        for sent in &step.sent {
            let (src, element) = symmetry.canonical(sent.src);
            let back = symmetry.inverse(element);
            let chunk = chunks.owned(symmetry.apply(back, sent.origin), sent.part);
            by_link.entry((src, symmetry.apply(back, sent.dst))).or_default().push(chunk);
        }
        let transfers = by_link.into_iter().map(|((src, dst), chunks)| {
            if pass.turned {
                Transfer { src: dst, dst: src, op: Op::Reduce, chunks }
            } else {
                Transfer { src, dst, op: Op::Copy, chunks }
            }
        });
        Step::new(symmetry.clone(), transfers, chunks)
    }
}

/// How much work a spread of blocks in so many parts is, in chunks that are placed.
fn work(topology: &Topology, parts: u32) -> u64 {
    let symmetry = topology.symmetry();
    let placed = u64::from(symmetry.orbits()) * u64::from(topology.ranks()) * u64::from(parts);
    placed.saturating_mul(1 + u64::from(symmetry.order()) / LINKS_A_CHUNK)
}
