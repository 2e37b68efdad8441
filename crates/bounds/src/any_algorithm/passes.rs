//! The quantity that all bounds for any algorithm count: passes of every block from one rank to all.

use model::Collective;

use crate::growth::{Growth, GrowthPrices, least_growth};
use crate::rates::Rates;
use crate::statement::{Statement, largest};

/// The class of schedules that all bounds here hold for.
pub(super) fn class(collective: Collective, ports: u32) -> String {
    format!(
        "any algorithm for {}, any topology of degree at most {ports} in each step, any reconfigurations",
        collective.name()
    )
}

/// One pass of every block from one rank to all, or back: the least over all schedules of startups, hops, changes, and
/// bytes that are at least `shares[i].0` times `use_s` for each use of a link plus `shares[i].1` seconds.
pub(super) fn one_pass(
    name: &'static str,
    why: &'static str,
    collective: Collective,
    rates: &Rates,
    use_s: f64,
    shares: &[(f64, f64)],
) -> Statement {
    let bounds = rates.mixes().iter().flat_map(|&(hops, bytes)| {
        shares.iter().map(move |&(uses, fixed_s)| {
            let prices = GrowthPrices {
                startup_s: rates.startup_s,
                hop_s: rates.hop_s * hops,
                use_s: use_s * uses * bytes,
                change_s: rates.change_s,
                least_changes: rates.least_changes,
                by_distance: rates.charges_hops,
            };
            let growth: Growth = least_growth(rates.ranks, rates.ports, &prices);
            Statement {
                name,
                class: class(collective, rates.ports),
                why,
                startup_s: prices.startup_s * f64::from(growth.steps()),
                propagation_s: prices.hop_s * f64::from(growth.hops()),
                transmission_s: prices.use_s * growth.uses + fixed_s * bytes,
                reconfiguration_s: prices.change_s * f64::from(growth.changes + rates.first_changes),
                topologies: growth.segments.len() as u32,
                steps: growth.steps(),
                segments: growth.segments,
            }
        })
    });
    largest(bounds).expect("there is a mix and a share")
}
