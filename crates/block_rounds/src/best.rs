//! The best number of topologies (§4.1).

use model::{Error, Initial, Result, Shape, Topology};

use crate::unequal_blocks::each_strategy;
use crate::{Contractions, Prices, Strategy, bases, degree_one};

/// The strategy of least price over all numbers of topologies, the stage in force at the start first.
///
/// One port: cycles and shifts, O(n²). More: circulant and generalised Kautz bases with their contractions,
/// as far as another topology can still pay. `None` where it is known that none costs less than `limit_s`.
///
/// # Errors
/// No error for a shape that exists; the type covers bases that cannot be built.
pub fn best(shape: &Shape, prices: &Prices, limit_s: f64) -> Result<Option<Strategy>> {
    let ranks = shape.gpus();
    let ports = shape.ports().min(ranks - 1);
    if ports == 1 {
        return Ok(Some(best_of_shifts(ranks, prices)?.starting_from(prices.initial)));
    }
    let mut best = Best { found: None, limit_s, prices };
    let fewest_hops: Vec<u64> = (1..=(ranks - 1).div_ceil(ports)).map(|count| fewest(ranks, ports, count)).collect();
    // With more topologies than these no flow takes fewer hops.
    let beatable = |best: &Best, least: usize| {
        (least..=fewest_hops.len().max(least))
            .any(|topologies| best.could_be_beaten(topologies, fewest_hops[topologies.min(fewest_hops.len()) - 1]))
    };
    if !beatable(&best, 1) {
        return Ok(None);
    }
    let mut topologies = 0;
    bases::every(ranks, ports, |sequences| {
        for contractions in sequences {
            best.consider(contractions);
        }
        topologies += 1;
        Ok(beatable(&best, topologies + 1))
    })?;
    if best.found.is_none() && limit_s.is_infinite() {
        return Err(Error::infeasible(
            "topology",
            format!("no sequence of topologies for {ranks} ranks takes a finite time"),
        ));
    }
    Ok(best.found.map(|(_, strategy)| strategy))
}

/// The cheapest strategy whose topologies can all be held; `None` if there is no such strategy. Looks at all
/// strategies.
///
/// # Errors
/// No error for a shape that exists.
pub fn best_that_can_be_held(
    shape: &Shape,
    prices: &Prices,
    holds: impl Fn(&Topology) -> bool,
) -> Result<Option<Strategy>> {
    let mut best: Option<(f64, Strategy)> = None;
    each_strategy(shape, &mut |strategy| {
        if strategy.stages.iter().all(|stage| holds(&stage.topology)) {
            let strategy = strategy.starting_from(prices.initial);
            let price_s = strategy.price_s(prices);
            if best.as_ref().is_none_or(|(least_s, _)| price_s < *least_s) {
                best = Some((price_s, strategy));
            }
        }
    })?;
    Ok(best.map(|(_, strategy)| strategy))
}

/// Σ hops of any strategy on this many topologies, at least (theorem 1): `ports`^h ranks are h hops from one on a
/// topology, and a slot moves a block over every circuit.
fn fewest(ranks: u32, ports: u32, topologies: u32) -> u64 {
    let (mut left, mut reached) = (u64::from(ranks - 1), u64::from(topologies));
    let (mut hops, mut sum) = (0, 0);
    while left > 0 {
        hops += 1;
        reached = reached.saturating_mul(u64::from(ports)).min(left);
        sum += reached * hops;
        left -= reached;
    }
    sum.div_ceil(u64::from(ports))
}

struct Best<'a> {
    found: Option<(f64, Strategy)>,
    /// The most that a strategy may cost to be of use, s.
    limit_s: f64,
    prices: &'a Prices<'a>,
}

impl Best<'_> {
    /// Whether this many topologies and hops may cost less than what was found, and no more than the limit: all changes
    /// of topology but the first cost at least what any change does.
    fn could_be_beaten(&self, topologies: usize, hops: u64) -> bool {
        let changes = (topologies - 1) as f64;
        let least_s = changes * self.prices.reconfiguration.lower_bound_s() + hops as f64 * self.prices.hop_s;
        least_s <= self.limit_s && self.found.as_ref().is_none_or(|(price_s, _)| least_s < *price_s)
    }

    fn consider(&mut self, contractions: &Contractions) {
        let strategy = contractions.strategy();
        if self.could_be_beaten(strategy.stages.len(), strategy.hops()) {
            let strategy = strategy.starting_from(self.prices.initial);
            let price_s = strategy.price_s(self.prices);
            if self.found.as_ref().is_none_or(|(least_s, _)| price_s < *least_s) {
                self.found = Some((price_s, strategy));
            }
        }
    }
}

/// Two shifts differ in every circuit, so that only the first change depends on which shifts there are.
fn best_of_shifts(ranks: u32, prices: &Prices) -> Result<Strategy> {
    let degree_one::Shifts { order, hops } = degree_one::shifts(ranks);
    let all_ports_s = prices.reconfiguration.of_all_ports_s(u64::from(ranks));
    let mut first_s = f64::INFINITY;
    let mut best = (f64::INFINITY, 1);
    for (index, (&shift, hops)) in order.iter().zip(hops).enumerate() {
        let change_s = match prices.initial {
            Initial::Free | Initial::Repeated => 0.0,
            Initial::Topology(initial) => {
                prices.reconfiguration.between_s(initial, &degree_one::topology(ranks, shift)?)
            }
        };
        first_s = first_s.min(change_s);
        let price_s = first_s + index as f64 * all_ports_s + hops as f64 * prices.hop_s;
        if price_s < best.0 {
            best = (price_s, index + 1);
        }
    }
    degree_one::of_shifts(ranks, &order[..best.1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_strategy_takes_fewer_hops_than_the_fewest() {
        // §2.3 of the paper: one, two and seven topologies; and on two ports 2·1 + 4·2 + 1·3 = 13 blocks moved.
        assert_eq!([1, 2, 7].map(|topologies| fewest(8, 1, topologies)), [28, 16, 7]);
        assert_eq!(fewest(8, 2, 1), 7);
        for (ranks, ports) in [(7, 2), (12, 2), (16, 3), (25, 4)] {
            bases::every(ranks, ports, |sequences| {
                for contractions in sequences {
                    assert!(contractions.hops() >= fewest(ranks, ports, contractions.topologies() as u32));
                }
                Ok(true)
            })
            .unwrap();
        }
    }
}
