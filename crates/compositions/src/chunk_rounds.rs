//! Chunks over one topology that stays, cut as small and sent in as long steps as suit the fabric's numbers.
//!
//! A step of rounds costs its start-up and hop, and a chunk's time for each round, so few steps, few rounds and small
//! chunks are wanted at once. No spread takes fewer steps than the farthest rank is hops away, nor fewer rounds than
//! the rank that lacks most for its circuits needs to take it in ([`Network::least_rounds`]); where a spread takes both
//! it is the best of its kind, and nothing further is tried. A ReduceScatter is an AllGather backwards on the circuits
//! turned round, an AllReduce both, one after the other or by segments at a time (`pipeline.rs`).

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use crate::synthesis::{ChunkStep, Length, Network, Sent, steps};
use model::{Chunks, Collective, Fabric, Op, Rank, Result, Schedule, Step, Topology, Transfer};

use crate::composition::Composition;
use crate::cutoffs::chunk_rounds::{MOST_KEPT, MOST_PARTS, MOST_STEPS, MOST_WORK, WORTH_A_TRY};
use crate::pipeline::{Loads, PassCost, best_segments, together};
use crate::prices::Prices;

/// Name of the algorithm.
pub const SYNTHESIZED: &str = "synthesized";

/// Meaning of the name, for people.
pub(crate) const MEANING: &str = "chunks spread over one topology throughout, in rounds in which every circuit \
    carries one chunk: planner synthesize";

/// Lengths of steps that are tried.
const LENGTHS: usize = 7;

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
    /// Seconds of a step of one hop without its bytes.
    step_s: f64,
    /// Seconds of a block on one circuit.
    block_s: f64,
    kept: Kept,
}

/// The form of a pass: its number of parts and its steps.
#[derive(Clone)]
struct Spread {
    steps: Arc<[ChunkStep]>,
    seconds: f64,
}

/// Spreads that were found, for the points of a sweep: they depend on no rate, delay or size.
pub(crate) type Kept = Arc<Mutex<VecDeque<((Topology, bool, u32, Length), Arc<[ChunkStep]>)>>>;

impl Chunked {
    /// `None` for a collective without blocks of ranks, where some rank cannot be reached, or where ranks are too many.
    /// O(ranks · links) without symmetry.
    pub(crate) fn new(
        kept: &Kept,
        collective: Collective,
        topology: &Topology,
        fabric: &Fabric,
        size_bytes: u64,
    ) -> Option<Self> {
        let ways: &[bool] = match collective {
            Collective::AllGather => &[false],
            Collective::ReduceScatter => &[true],
            Collective::AllReduce => &[true, false],
            _ => return None,
        };
        if work(topology, 1) > MOST_WORK {
            return None;
        }
        let prices = Prices::new(fabric, size_bytes);
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

    /// Lower bound on the time: no pass has fewer steps or rounds; every chunk takes a link to each other rank in each
    /// pass, in any order.
    fn bound_s(&self, parts: u32) -> f64 {
        let least = |pass: &Pass| pass.network.least_rounds(&pass.origins, parts).unwrap_or(0);
        let steps = self.passes.iter().map(|pass| pass.diameter).sum();
        let ranks = u64::from(self.topology.ranks());
        let uses = self.passes.len() as u64 * (ranks - 1) * ranks * u64::from(parts);
        let used = uses as f64 / self.topology.circuits() as f64;
        let rounds = self.passes.iter().map(least).max().unwrap_or(0);
        self.seconds(steps, f64::from(rounds).max(used), parts)
    }

    fn pass_bound_s(&self, pass: &Pass, parts: u32) -> f64 {
        let rounds = pass.network.least_rounds(&pass.origins, parts).unwrap_or(0);
        self.seconds(pass.diameter, f64::from(rounds), parts)
    }

    fn seconds(&self, steps: u32, rounds: f64, parts: u32) -> f64 {
        f64::from(steps) * self.step_s + rounds / f64::from(parts) * self.block_s
    }

    /// The work of one spread of each pass by steps of each length, with blocks in one part.
    pub fn work_of_each_length(&self) -> u64 {
        (LENGTHS * self.passes.len()) as u64 * work(&self.topology, 1)
    }

    /// The best that is found with this amount of work, in chunks that are placed for a rank: about three a
    /// microsecond. `None` where a single spread is more.
    ///
    /// # Errors
    /// The errors of [`Step::new`].
    pub fn compose(&self, most_work: u64) -> Result<Option<Composition>> {
        // Equal bounds are decided by that of passes one after the other.
        let one_by_one_s = |parts: u32| self.passes.iter().map(|pass| self.pass_bound_s(pass, parts)).sum::<f64>();
        let bounds = (1..=MOST_PARTS).map(|parts| (self.bound_s(parts), one_by_one_s(parts), parts));
        let mut by_bound: Vec<(f64, f64, u32)> = bounds.collect();
        by_bound.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
        let mut left = most_work;
        let mut best: Option<(f64, Cut, Vec<Spread>)> = None;
        let possible = by_bound.into_iter().filter(|(_, _, parts)| work(&self.topology, *parts) <= MOST_WORK);
        for (bound_s, _, parts) in possible.take(WORTH_A_TRY) {
            if best.as_ref().is_some_and(|(least_s, ..)| *least_s <= bound_s * CLOSE) {
                break;
            }
            let spreads = self.passes.iter().map(|pass| self.spread(pass, parts, &mut left));
            let Some(spreads) = spreads.collect::<Option<Vec<Spread>>>() else { continue };
            let (segments, total_s) = self.segments(parts, &spreads);
            if best.as_ref().is_none_or(|(least_s, ..)| total_s < *least_s) {
                best = Some((total_s, Cut { parts, segments }, spreads));
            }
        }
        best.map(|(_, cut, spreads)| self.composition(cut, &spreads)).transpose()
    }

    /// The best number of segments for the passes of an AllReduce, and the seconds that all passes take.
    fn segments(&self, parts: u32, spreads: &[Spread]) -> (u32, f64) {
        let [reduce, gather] = spreads else { return (1, spreads.iter().map(|spread| spread.seconds).sum()) };
        let by_pass = [(&self.passes[0], reduce), (&self.passes[1], gather)];
        let [reduce, gather] = by_pass.map(|(pass, spread)| self.loads(pass, spread));
        let both = together(&reduce, &gather);
        let most = (MOST_WORK / 2 / work(&self.topology, parts)).min(MOST_STEPS / both.steps as u64) as u32;
        let chunk_s = self.block_s / f64::from(parts);
        best_segments([PassCost::of(&reduce), PassCost::of(&gather)], both, self.step_s, chunk_s, most)
    }

    /// The loads of links in each step of a pass, in the order of its steps.
    fn loads(&self, pass: &Pass, spread: &Spread) -> Vec<Loads> {
        let links = self.topology.links().iter().map(|link| ((link.src, link.dst), f64::from(link.count)));
        let circuits: Loads = links.collect();
        let of_step = |step: &ChunkStep| {
            let mut loads = Loads::new();
            for sent in &step.sent {
                let link = self.link(pass, sent).0;
                *loads.entry(link).or_insert(0.0) += 1.0 / circuits.get(&link).copied().unwrap_or(1.0);
            }
            loads
        };
        let mut loads: Vec<Loads> = spread.steps.iter().map(of_step).collect();
        if pass.turned {
            loads.reverse();
        }
        loads
    }

    /// The representative of the link over which a chunk goes, and the symmetry's element that maps it to that link.
    fn link(&self, pass: &Pass, sent: &Sent) -> ((Rank, Rank), u32) {
        let (src, dst) = if pass.turned { (sent.dst, sent.src) } else { (sent.src, sent.dst) };
        let symmetry = self.topology.symmetry();
        let (representative, element) = symmetry.canonical(src);
        let back = symmetry.inverse(element);
        ((representative, symmetry.apply(back, dst)), back)
    }

    /// The best spread of a pass for this many parts.
    fn spread(&self, pass: &Pass, parts: u32, left: &mut u64) -> Option<Spread> {
        let bound_s = self.pass_bound_s(pass, parts);
        let startup = (16.0 * self.step_s * f64::from(parts) / self.block_s) as u32;
        let lengths: [Length; LENGTHS] = [
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
            let rounds: u32 = steps.iter().map(|step| step.rounds).sum();
            let seconds = self.seconds(steps.len() as u32, f64::from(rounds), parts);
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
        kept.push_back(((self.topology.clone(), pass.turned, parts, length), found.clone()));
        let sent = |steps: &[ChunkStep]| steps.iter().map(|step| step.sent.len()).sum::<usize>();
        while kept.iter().map(|(_, steps)| sent(steps)).sum::<usize>() > MOST_KEPT {
            kept.pop_front();
        }
        Some(found)
    }

    fn composition(&self, cut: Cut, spreads: &[Spread]) -> Result<Composition> {
        let chunks = Chunks::even(self.collective, self.topology.ranks(), cut.parts * cut.segments)?;
        let mut steps = Vec::new();
        // Each pass is a segment behind the one before.
        for stage in 0..cut.segments + spreads.len() as u32 - 1 {
            let at_work = self.passes.iter().zip(spreads).zip(0..).filter_map(|((pass, spread), lag)| {
                let segment = stage.checked_sub(lag).filter(|&segment| segment < cut.segments)?;
                Some((pass, spread, segment * cut.parts))
            });
            let at_work: Vec<(&Pass, &Spread, u32)> = at_work.collect();
            let longest = at_work.iter().map(|(_, spread, _)| spread.steps.len()).max().unwrap_or(0);
            for index in 0..longest {
                interruption::check();
                let mut by_link: BTreeMap<(Rank, Rank, Op), Vec<u32>> = BTreeMap::new();
                for (pass, spread, first) in &at_work {
                    let step = if pass.turned {
                        spread.steps.len().checked_sub(index + 1).and_then(|place| spread.steps.get(place))
                    } else {
                        spread.steps.get(index)
                    };
                    self.put(pass, step.map_or(&[][..], |step| &step.sent), *first, &chunks, &mut by_link);
                }
                let transfers = by_link.into_iter().map(|((src, dst, op), chunks)| Transfer { src, dst, op, chunks });
                steps.push(Step::new(self.topology.symmetry().clone(), transfers, &chunks)?);
            }
        }
        let schedule = Schedule::new(SYNTHESIZED, chunks, steps)?;
        Ok(Composition { schedule, topologies: vec![self.topology.clone()], over_circuits: true, routes: Vec::new() })
    }

    /// Adds what a pass sends in a step, `first` being the part of its segment that comes first.
    fn put(
        &self,
        pass: &Pass,
        sent: &[Sent],
        first: u32,
        chunks: &Chunks,
        by_link: &mut BTreeMap<(Rank, Rank, Op), Vec<u32>>,
    ) {
        let op = if pass.turned { Op::Reduce } else { Op::Copy };
        for sent in sent {
            let ((src, dst), back) = self.link(pass, sent);
            let owner = self.topology.symmetry().apply(back, sent.origin);
            by_link.entry((src, dst, op)).or_default().push(chunks.owned(owner, first + sent.part));
        }
    }
}

/// The cut of blocks into parts.
#[derive(Debug, Clone, Copy)]
struct Cut {
    /// Chunks of a block in a segment.
    parts: u32,
    /// Segments, whose passes are at work at a time.
    segments: u32,
}

/// The work of a spread of blocks in this many parts, in chunks that are placed.
fn work(topology: &Topology, parts: u32) -> u64 {
    let symmetry = topology.symmetry();
    let placed = u64::from(symmetry.orbits()) * u64::from(topology.ranks()) * u64::from(parts);
    placed.saturating_mul(1 + u64::from(symmetry.order()) / LINKS_A_CHUNK)
}
