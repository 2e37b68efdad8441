//! Unequal All-to-All: few steps on topologies made for the matrix.
//!
//! A decomposition into matchings sends every byte over one circuit, and takes as many steps and changes as there are
//! matchings. Where blocks are small, startups and changes outweigh bytes, and everything in one step over several hops
//! is best; between, heavy pairs get circuits of their own for some steps, and one step takes the rest.
//!
//! ```text
//! pieces ─▶ demand ─▶ ways: topologies, one a step; every pair in the step where it is nearest
//!                      │     the start · de Bruijn and Kautz graphs · heaviest pairs over a ring · heaviest pairs first
//!                      ▼
//!                   exchanges of circuits and ranks ─▶ the cheapest by estimate ─▶ compositions
//! ```
//!
//! Bytes that wait between steps, with their paths, are a search of their own (`waiting`).

mod demand;
mod heaviest;
mod improve;
pub(crate) mod library;
mod phases;
mod prices;
pub(crate) mod pursuit;
mod waiting;
mod way;
mod wiring;

use std::time::Instant;

use model::{Chunks, CostSettings, Fabric, Initial, Op, Piece, Rank, Result, Routing, Step, Transfer, Translations};

use crate::all_to_all;
use crate::composition::Composition;
use crate::cutoffs::unequal::{
    LEAST_AT_ANY_TIME, LEAST_STEPS_BESIDE_WAITING, MOST_PORTS_OF_PHASES, MOST_WAYS, MOST_WAYS_AT_ANY_TIME,
};
use crate::library::Libraries;
use crate::prices::Prices as PhasePrices;
use demand::Demand;
use library::{Found, Library};
use prices::Prices;
use pursuit::Pursuit;
use way::{Evaluator, Way};
use wiring::Wiring;

/// Name of the topologies that are made for a matrix, and what it means.
pub(crate) const NAME: (&str, &str) =
    ("for-matrix-K", "circuits for step K of an unequal All-to-All, between the pairs that exchange most");

/// The best compositions for an unequal All-to-All in which every pair is served within one step, most promising first:
/// among many ranks only those that by estimate take less than `limit_s`. Results for a matrix are kept in `libraries`.
///
/// # Errors
/// No error for the pieces of a schedule of the fabric's ranks.
pub fn compositions(
    libraries: &Libraries,
    pieces: &[Piece],
    fabric: &Fabric,
    settings: CostSettings,
    size_bytes: u64,
    limit_s: f64,
) -> Result<Vec<Composition>> {
    let (ranks, ports) = (fabric.shape.gpus(), fabric.shape.ports());
    let library = libraries.unequal.of(&Demand::of(ranks, pieces), ports as usize);
    let start = start_of(fabric);
    let starts: Vec<Option<&Wiring>> = std::iter::once(None).chain(start.as_ref().map(Some)).collect();
    let is_any_time = serves_at_any_time(fabric, settings);
    let limit_s = if is_any_time { limit_s } else { f64::INFINITY };
    let mut compositions = made(&library, &starts, &Prices::new(fabric, settings, size_bytes), limit_s)?;
    if is_any_time && ports > MOST_PORTS_OF_PHASES {
        return Ok(compositions);
    }
    let of_equal = PhasePrices::new(fabric, size_bytes);
    compositions.extend(of_phases(libraries, &library, fabric, settings, &of_equal)?);
    Ok(compositions)
}

/// Whether an unequal All-to-All on a fabric is planned within a time that is known beforehand, by bytes that wait and
/// by fast methods. This holds for many ranks, where routing and optics leave the choice of paths and topologies.
pub fn serves_at_any_time(fabric: &Fabric, settings: CostSettings) -> bool {
    settings.routing == Routing::ConcurrentFlow && fabric.optics.is_none() && fabric.shape.gpus() >= LEAST_AT_ANY_TIME
}

/// The best compositions whose bytes wait between steps: one on any topologies, and one that begins on the start where
/// there is a given one. None where routing or optics leave no choice of paths or topologies, and none that takes
/// `limit_s` or more.
///
/// # Errors
/// The errors of [`compositions`].
pub fn waiting(
    pieces: &[Piece],
    fabric: &Fabric,
    settings: CostSettings,
    size_bytes: u64,
    limit_s: f64,
    pursuit: Pursuit<'_>,
) -> Result<Vec<Composition>> {
    if settings.routing != Routing::ConcurrentFlow || fabric.optics.is_some() {
        return Ok(Vec::new());
    }
    let (ranks, ports) = (fabric.shape.gpus(), fabric.shape.ports() as usize);
    let demand = Demand::of(ranks, pieces);
    let prices = Prices::new(fabric, settings, size_bytes);
    let start = start_of(fabric);
    let mut least_s = limit_s;
    let mut found = Vec::new();
    for start in start.as_ref().map(Some).into_iter().chain([None]) {
        // Half of the time is for topologies that begin with the start.
        let half = |until: Instant| until - until.saturating_duration_since(Instant::now()) / 2;
        let until = pursuit.until.map(|until| if start.is_some() { half(until) } else { until });
        let pursuit = Pursuit { until, ..pursuit };
        if let Some((composition, seconds)) = waiting::composition(&demand, ports, start, &prices, least_s, pursuit)? {
            least_s = seconds;
            found.push(composition);
        }
    }
    found.reverse();
    Ok(found)
}

/// The phases of equal blocks.
fn of_phases(
    libraries: &Libraries,
    library: &Library,
    fabric: &Fabric,
    settings: CostSettings,
    prices: &PhasePrices,
) -> Result<Option<Composition>> {
    let (ranks, ports) = (fabric.shape.gpus(), fabric.shape.ports());
    let (chunks, numbers) = library.demand.chunks()?;
    let equal = all_to_all::compose(&libraries.of(ranks, ports, settings.routing), prices, ranks, ports)?;
    phases::with_blocks(&equal, &chunks, &numbers)
}

/// The [`compositions`] that begin on the start of the fabric; none from a free or a dark one.
///
/// # Errors
/// The errors of [`compositions`].
pub fn on_start(
    libraries: &Libraries,
    pieces: &[Piece],
    fabric: &Fabric,
    settings: CostSettings,
    size_bytes: u64,
) -> Result<Vec<Composition>> {
    let Some(start) = start_of(fabric) else { return Ok(Vec::new()) };
    let library = libraries.unequal.of(&Demand::of(fabric.shape.gpus(), pieces), fabric.shape.ports() as usize);
    let mut compositions = made(&library, &[Some(&start)], &Prices::new(fabric, settings, size_bytes), f64::INFINITY)?;
    let of_equal = PhasePrices::new(fabric, size_bytes);
    if of_equal.ring().is_some() {
        compositions.extend(of_phases(libraries, &library, fabric, settings, &of_equal)?);
    }
    Ok(compositions)
}

/// The circuits at the start, where there are any.
fn start_of(fabric: &Fabric) -> Option<Wiring> {
    match &fabric.initial {
        Initial::Topology(topology) if !topology.links().is_empty() => {
            Some(Wiring::of(topology, fabric.shape.ports() as usize))
        }
        _ => None,
    }
}

/// The ways of least price below `limit_s`, as compositions.
fn made(library: &Library, starts: &[Option<&Wiring>], prices: &Prices, limit_s: f64) -> Result<Vec<Composition>> {
    let (chunks, numbers) = library.demand.chunks()?;
    let mut evaluator = Evaluator::new(&library.demand);
    let mut compositions = Vec::new();
    let most = if limit_s < f64::INFINITY { MOST_WAYS_AT_ANY_TIME } else { MOST_WAYS };
    for (way, estimate) in best_ways(library, starts, prices, limit_s).into_iter().take(most) {
        if prices.seconds(way.from_start, &estimate) >= limit_s {
            break;
        }
        if evaluator.estimate(&way).is_some() {
            let chunk = |pair: &(Rank, Rank)| numbers[pair];
            compositions.push(composed(&way, &evaluator.pairs_by_step(), &chunks, chunk)?);
        }
    }
    Ok(compositions)
}

/// Some ways of least price, the best first, that begin anywhere (`None`) or on one of `starts`.
fn best_ways(library: &Library, starts: &[Option<&Wiring>], prices: &Prices, limit_s: f64) -> Vec<Found> {
    let mut best: Vec<(f64, Found)> = Vec::new();
    // Ways of fewer steps are improved by exchanges, which takes longer than to let bytes wait, and gains less.
    let mut steps = if limit_s < f64::INFINITY { LEAST_STEPS_BESIDE_WAITING } else { 1 };
    let may_win = |steps, best: &[(f64, Found)]| prices.least_s(steps) < best.first().map_or(limit_s, |best| best.0);
    while steps <= library.most_steps() && may_win(steps, &best) {
        let found = starts.iter().flat_map(|start| library.ways(steps, prices.hop(), *start));
        best.extend(found.map(|(way, estimate)| (prices.seconds(way.from_start, &estimate), (way, estimate))));
        best.sort_by(|a, b| a.0.total_cmp(&b.0));
        best.dedup_by(|later, earlier| later.1.0 == earlier.1.0);
        best.truncate(MOST_WAYS);
        steps += steps.div_ceil(3);
    }
    best.into_iter().map(|(_, found)| found).collect()
}

/// The composition of a way, `pairs` being those of each step.
fn composed(
    way: &Way,
    pairs: &[Vec<(Rank, Rank)>],
    chunks: &Chunks,
    chunk: impl Fn(&(Rank, Rank)) -> u32,
) -> Result<Composition> {
    let ranks = chunks.ranks();
    let (mut steps, mut topologies) = (Vec::new(), Vec::new());
    for (wiring, pairs) in way.wirings.iter().zip(pairs).filter(|(_, pairs)| !pairs.is_empty()) {
        let transfers =
            pairs.iter().map(|pair| Transfer { src: pair.0, dst: pair.1, op: Op::Copy, chunks: vec![chunk(pair)] });
        steps.push(Step::new(Translations::trivial(ranks), transfers, chunks)?);
        topologies.push(wiring.topology(&format!("for-matrix-{}", steps.len()))?.with_found_symmetry());
    }
    Composition::new(chunks.clone(), steps, topologies)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Propagation, ReconfigurationPolicy, Shape};
    use proptest::prelude::*;

    fn fabric(ranks: u32, ports: u32, change_s: f64, initial: Initial) -> Fabric {
        Fabric {
            shape: Shape::new(ranks, &[], ports).unwrap(),
            bandwidth_bps: 8e11,
            startup_s: 5e-7,
            barrier_s: 0.0,
            hop_delay_s: 5e-7,
            reconfiguration: ReconfigurationPolicy::constant(change_s),
            initial,
            optics: None,
            electrical: None,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(draws::cases(48)))]

        /// Every block of any matrix arrives, over circuits that the ports have.
        #[test]
        fn compositions_deliver_every_block(
            (ranks, ports) in (2u32..11, 1u32..4),
            shares in prop::collection::vec(prop_oneof![2 => Just(0.0), 3 => 0.01f64..1.0], 100),
            log_size in 4u32..30, log_delay in -8i32..-2, starts_on_ring in prop::bool::ANY,
        ) {
            let cell = |src: u32, dst: u32| Piece { src, dst, share: shares[(src * 10 + dst) as usize % 100] };
            let mut pieces: Vec<Piece> =
                (0..ranks).flat_map(|src| (0..ranks).map(move |dst| (src, dst))).map(|(src, dst)| cell(src, dst)).collect();
            pieces.retain(|piece| piece.share > 0.0);
            // Blocks may come in parts.
            let parts: Vec<Piece> = pieces.iter().chain(&pieces).copied().collect();
            prop_assume!(pieces.iter().any(|piece| piece.src != piece.dst));
            let shape = Shape::new(ranks, &[], ports).unwrap();
            let ring = topologies::build("ring", &shape).unwrap();
            let initial = if starts_on_ring { Initial::Topology(ring) } else { Initial::Free };
            let fabric = fabric(ranks, ports, 10f64.powi(log_delay), initial);
            let settings = CostSettings::additive(Routing::ConcurrentFlow, Propagation::Hops);
            let libraries = Libraries::default();
            let found = compositions(&libraries, &parts, &fabric, settings, 1 << log_size, f64::INFINITY).unwrap();
            prop_assert!(!found.is_empty());
            for composition in found {
                let report = verify::schedule(&composition.schedule);
                prop_assert!(report.first_failure().is_none(), "{:?}", report.first_failure());
                let blocks = composition.schedule.chunks().as_pieces().unwrap();
                prop_assert_eq!(blocks.len(), pieces.len());
                for piece in &pieces {
                    let block = blocks.iter().find(|block| (block.src, block.dst) == (piece.src, piece.dst)).unwrap();
                    prop_assert!((block.share - 2.0 * piece.share).abs() < 1e-12);
                }
                prop_assert_eq!(composition.topologies.len(), composition.schedule.steps().len());
                for (topology, step) in composition.topologies.iter().zip(composition.schedule.steps()) {
                    topology.check_ports(ports).unwrap();
                    let network = fronts::RoutingNetwork::new(topology);
                    prop_assert!(network.estimate(step.traffic(), Routing::ConcurrentFlow).is_some());
                }
            }
        }
    }

    /// A matrix of one heavy pair: circuits in parallel for it where ports allow, and no step for what is not sent.
    #[test]
    fn one_block_gets_every_port() {
        let piece = Piece { src: 3, dst: 5, share: 1.0 };
        let (fabric, settings) = (fabric(8, 4, 1e-5, Initial::Free), CostSettings::default());
        let found = compositions(&Libraries::default(), &[piece], &fabric, settings, 1 << 30, f64::INFINITY).unwrap();
        let best = &found[0];
        assert_eq!(best.schedule.steps().len(), 1);
        let links = best.topologies[0].expanded();
        assert!(links.iter().any(|link| (link.src, link.dst, link.count) == (3, 5, 4)), "{links:?}");
    }
}
