//! Bytes that wait between steps: hop by hop through the topologies of several steps.
//!
//! Where every pair is served within one step, each step must reach every pair that is left to it. Bytes that wait at a
//! rank for a later step need no topology on which all ranks are joined but one, and the circuits of all steps are
//! chosen together.
//!
//! ```text
//! bases ─▶ circuits: one topology a step ─▶ layers ─▶ flow: paths of every pair ─▶ parts: pieces, steps, routes
//!                      ▲ exchanges: nearer pairs
//! ```

mod bases;
mod candidate;
mod cheapest;
mod circuits;
mod exchanges;
mod flow;
mod further;
mod layers;
mod made;
mod parts;
mod rows;
mod search;
mod task;
mod template;

use model::Result;

use super::demand::Demand;
use super::prices::Prices;
use super::pursuit::Pursuit;
use super::wiring::Wiring;
use crate::composition::Composition;
use task::Task;

/// The best composition whose bytes wait between steps, the first step on `start` where it is given; `None` where
/// nothing is found that takes less than `limit_s`.
///
/// # Errors
/// No error for the demand of a schedule of the fabric's ranks.
pub(super) fn composition(
    demand: &Demand,
    ports: usize,
    start: Option<&Wiring>,
    prices: &Prices,
    limit_s: f64,
    pursuit: Pursuit<'_>,
) -> Result<Option<(Composition, f64)>> {
    if demand.pairs().is_empty() {
        return Ok(None);
    }
    let found = search::best(&Task::new(demand, ports, start, prices, limit_s, pursuit), limit_s);
    found.map(|found| Ok((parts::composition(demand, &found.wirings, &found.flow)?, found.seconds))).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{CostSettings, Fabric, Initial, Piece, Propagation, ReconfigurationPolicy, Routing, Shape};
    use proptest::prelude::*;

    use crate::unequal::prices::Prices;

    fn prices(ranks: u32, ports: u32, log_size: u32, log_delay: i32) -> Prices {
        let fabric = Fabric {
            shape: Shape::new(ranks, &[], ports).unwrap(),
            bandwidth_bps: 8e11,
            startup_s: 5e-7,
            barrier_s: 0.0,
            hop_delay_s: 5e-7,
            reconfiguration: ReconfigurationPolicy::constant(10f64.powi(log_delay)),
            initial: Initial::Free,
            optics: None,
            electrical: None,
        };
        let settings = CostSettings::additive(Routing::ConcurrentFlow, Propagation::Hops);
        Prices::new(&fabric, settings, 1 << log_size)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(draws::cases(64)))]

        /// For any matrix all bytes arrive, on paths that the topologies have, in the time that is stated, and a
        /// second search finds the same. No step has more circuits than ports.
        #[test]
        fn parts_of_blocks_arrive_in_the_stated_time(
            (ranks, ports) in (2u32..11, 1u32..4),
            shares in prop::collection::vec(prop_oneof![1 => Just(0.0), 3 => 0.001f64..1.0], 100),
            log_size in 10u32..32, log_delay in -8i32..-3, starts_on_ring in prop::bool::ANY,
        ) {
            let cell = |src: u32, dst: u32| Piece { src, dst, share: shares[(src * 10 + dst) as usize % 100] };
            let pairs = (0..ranks).flat_map(|src| (0..ranks).map(move |dst| (src, dst)));
            let pieces = pairs.map(|(src, dst)| cell(src, dst));
            let pieces: Vec<Piece> = pieces.filter(|piece| piece.share > 0.0).collect();
            prop_assume!(pieces.iter().any(|piece| piece.src != piece.dst));
            let demand = Demand::of(ranks, &pieces);
            let prices = prices(ranks, ports, log_size, log_delay);
            let ring = Wiring::ring(&(0..ranks).collect::<Vec<_>>());
            let start = starts_on_ring.then_some(&ring);
            let pursuit = Pursuit::default();
            let found = || composition(&demand, ports as usize, start, &prices, f64::INFINITY, pursuit).unwrap();
            let (found, again) = (found().unwrap(), found().unwrap());
            prop_assert_eq!((&found.0.schedule, &found.0.topologies, &found.0.routes, found.1),
                (&again.0.schedule, &again.0.topologies, &again.0.routes, again.1));
            let (found, seconds) = found;
            let report = verify::schedule(&found.schedule);
            prop_assert!(report.first_failure().is_none(), "{:?}", report.first_failure());
            let mut arrived = vec![0.0; (ranks * ranks) as usize];
            for part in found.schedule.chunks().as_pieces().unwrap() {
                arrived[(part.src * ranks + part.dst) as usize] += part.share;
            }
            for (pair, arrived) in arrived.iter().enumerate() {
                let sent = demand.share(pair as u32 / ranks, pair as u32 % ranks);
                prop_assert!((arrived - sent).abs() <= 1e-9 * sent);
            }
            let mut recomputed_s = 0.0;
            for ((step, topology), routes) in found.schedule.steps().iter().zip(&found.topologies).zip(&found.routes) {
                topology.check_ports(ports).unwrap();
                let front = fronts::RoutingNetwork::new(topology).front_of_routes(step.traffic(), routes).unwrap();
                let point = front.points()[0];
                let bytes_s = prices.buffer_s * step.share() * point.load;
                recomputed_s += prices.startup_s + prices.hop_s * f64::from(point.hops) + bytes_s;
            }
            let changes_s = seconds - recomputed_s;
            let changes = (found.schedule.steps().len() - 1) as f64;
            // One change more where the first topology differs from the start, which prices of a free start do not
            // count.
            prop_assert!((changes_s - changes * prices.change_s).abs() <= 1e-6 * seconds, "{} {}", changes_s, changes);
            let bytes_s = prices.buffer_s * demand.busiest() / f64::from(ports);
            prop_assert!(seconds >= prices.least_s(1) + bytes_s * (1.0 - 1e-9));
        }
    }

    /// By hand: on one port, 0 → 1 → 2 → 0 is the only topology but its mirror image. Without bytes that wait, each pair
    /// has a circuit of its own in one of the two steps; the busier step takes its largest block.
    #[test]
    fn two_steps_on_three_ranks_take_about_as_long_as_circuits_for_every_pair() {
        let blocks = [[0.0, 5.0, 1.0], [2.0, 0.0, 4.0], [6.0, 3.0, 0.0]];
        let cells = (0..3u32).flat_map(|src| (0..3u32).map(move |dst| (src, dst)));
        let piece = |(src, dst): (u32, u32)| Piece { src, dst, share: blocks[src as usize][dst as usize] };
        let demand = Demand::of(3, &cells.map(piece).filter(|piece| piece.share > 0.0).collect::<Vec<_>>());
        let prices = prices(3, 1, 24, -8);
        let (_, seconds) = composition(&demand, 1, None, &prices, f64::INFINITY, Pursuit::default()).unwrap().unwrap();
        let by_hand = prices.least_s(2) + prices.buffer_s * (6.0 + 3.0);
        assert!(seconds <= 1.005 * by_hand, "{seconds} {by_hand}");
    }
}
