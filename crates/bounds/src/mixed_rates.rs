//! Bounds for ports of different rates, from fabrics on which every plan for them can be run as it is.
//!
//! On one, every port is as fast as the fastest. On others, ports are units of one rate, and a port of any rate is as
//! many of them as give it at least its rate: a circuit is so many parallel circuits, and a GPU has more ports, all in
//! all with hardly more than its rate. No step takes longer there, and no more changes, so that a bound on either holds.

use model::{Fabric, Initial, Link, MAX_PORTS, Topology, Translations};

use crate::Statement;
use crate::cutoffs::mixed_rates::{MOST_SMALL_UNITS, MOST_UNITS_OF_SLOWEST};

/// The larger of the bounds on these fabrics, in the class of the fabric itself; the bound as it is where ports are
/// alike. Of units there are two: few of them, as many hops are needed then, and small ones, which are hardly faster.
pub(crate) fn larger(fabric: &Fabric, bound: impl Fn(&Fabric) -> Statement) -> Statement {
    few_and_small(fabric).iter().fold(bound(fabric), |largest, units| larger_of(largest, bound(units)))
}

fn few_and_small(fabric: &Fabric) -> Vec<Fabric> {
    if fabric.shape.rates().is_none() {
        return Vec::new();
    }
    let mut found: Vec<Fabric> =
        [MOST_UNITS_OF_SLOWEST, MOST_SMALL_UNITS].iter().filter_map(|&most| in_units_of(fabric, most)).collect();
    found.dedup_by_key(|units| units.shape.ports());
    found
}

/// [`larger`] for several bounds, each with that of its name.
pub(crate) fn all_larger(fabric: &Fabric, bounds: impl Fn(&Fabric) -> Vec<Statement>) -> Vec<Statement> {
    few_and_small(fabric).iter().fold(bounds(fabric), |largest, units| {
        let in_units = bounds(units);
        let named = |name: &str| in_units.iter().find(|other| other.name == name).cloned();
        let with_units = |of: Statement| named(of.name).map_or(of.clone(), |units| larger_of(of, units));
        largest.into_iter().map(with_units).collect()
    })
}

fn larger_of(largest: Statement, units: Statement) -> Statement {
    if units.seconds() > largest.seconds() { Statement { class: largest.class, ..units } } else { largest }
}

/// The fabric whose ports are units; `None` where circuits are alike, or a GPU would have too many. A circuit on a
/// port, or between a pair of GPUs, is as many parallel circuits as it has units; where pairs have the rates, every
/// port has as many as the fastest pair.
pub fn in_units(fabric: &Fabric) -> Option<Fabric> {
    in_units_of(fabric, MOST_UNITS_OF_SLOWEST)
}

/// [`in_units`] with at most so many units of the slowest port.
fn in_units_of(fabric: &Fabric, most: u32) -> Option<Fabric> {
    // Rates, the fastest first, with the ports that have them.
    let all_ports = || (0..fabric.shape.ports()).collect::<Vec<u32>>();
    let classes: Vec<(f64, Vec<u32>)> = match fabric.shape.rates() {
        Some(rates) => rates.classes().into_iter().map(|class| (class.rate_bps, class.ports)).collect(),
        None => fabric.shape.rates_bps().into_iter().map(|rate_bps| (rate_bps, all_ports())).collect(),
    };
    let slowest_bps = classes.last()?.0;
    // Rates that are multiples of a unit but for rounding are no more than that.
    let units_of = |rate_bps: f64, unit_bps: f64| (rate_bps / unit_bps * (1.0 - 1e-12)).ceil();
    let made = |parts: u32| {
        let unit_bps = slowest_bps / f64::from(parts);
        let of_class = |(rate_bps, ports): &(f64, Vec<u32>)| ports.len() as f64 * units_of(*rate_bps, unit_bps);
        let ports: f64 = classes.iter().map(of_class).sum();
        (ports * unit_bps * (1.0 + 1e-12), ports, unit_bps)
    };
    let fits: Vec<(f64, f64, f64)> =
        (1..=most).map(made).filter(|(_, ports, _)| *ports <= f64::from(MAX_PORTS)).collect();
    // The least rate of a GPU in all but for rounding, and of equal ones the fewest ports.
    let least_bps = fits.iter().map(|(all_bps, ..)| *all_bps).fold(f64::INFINITY, f64::min);
    let &(_, _, unit_bps) = fits.iter().find(|(all_bps, ..)| *all_bps <= least_bps * (1.0 + 1e-9))?;
    // Rounding must not make a port slower than it is.
    let unit_bps = unit_bps * (1.0 + 1e-12);
    let units: Vec<u32> = classes.iter().map(|(rate_bps, _)| units_of(*rate_bps, unit_bps) as u32).collect();
    // Where pairs have the rates, every port has the units of the fastest.
    let kinds = if fabric.shape.pairs().is_some() { 1 } else { classes.len() };
    let of_kinds = classes[..kinds].iter().zip(&units);
    // The port of each unit.
    let of_unit: Vec<u32> = of_kinds
        .flat_map(|((_, ports), &units)| ports.iter().flat_map(move |&port| (0..units).map(move |_| port)))
        .collect();
    let initial = match &fabric.initial {
        Initial::Topology(topology) => Initial::Topology(topology_in_units(topology, &units)?),
        other => other.clone(),
    };
    let shape = fabric.shape.without_faults(of_unit.len() as u32).ok()?;
    // Of a port that fails all units fail.
    let units_of = |port: u32| (0..).zip(&of_unit).filter(|(_, of)| **of == port).map(|(unit, _)| unit).collect();
    let shape = shape.with_faults(fabric.shape.faults().at_ports(units_of)).ok()?;
    Some(Fabric { shape, bandwidth_bps: unit_bps, initial, ..fabric.clone() })
}

/// The topology whose circuits are as many as each has units.
fn topology_in_units(topology: &Topology, units: &[u32]) -> Option<Topology> {
    let fastest = units.iter().copied().max()?;
    let link = |link: &Link| {
        let count = match topology.circuits_by_rate(link.src, link.dst) {
            Some(circuits) => circuits.iter().zip(units).map(|(count, units)| count * units).sum(),
            None => link.count * fastest,
        };
        Link { count, ..*link }
    };
    let symmetry: Translations = topology.symmetry().clone();
    Topology::new(topology.name(), symmetry, topology.links().iter().map(link)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::any_algorithm;
    use model::{Collective, CostSettings, Fault, PortRates, ReconfigurationPolicy, Shape};

    fn fabric(by_port_bps: &[f64]) -> Fabric {
        let ports = by_port_bps.len() as u32;
        let rates = PortRates::new("bandwidth", by_port_bps, ports).unwrap();
        Fabric {
            shape: Shape::new(8, &[], ports).unwrap().with_rates(rates),
            bandwidth_bps: by_port_bps.iter().copied().fold(0.0, f64::max),
            startup_s: 5e-7,
            barrier_s: 0.0,
            hop_delay_s: 5e-7,
            reconfiguration: ReconfigurationPolicy::constant(1e-5),
            initial: Initial::Free,
            optics: None,
            electrical: None,
        }
    }

    #[test]
    fn units_give_every_port_its_rate_and_hardly_more() {
        for (rates, ports) in [(&[8e11, 4e11][..], 3), (&[8e11, 8e11, 2e11], 9), (&[3e11, 2e11], 5)] {
            let units = in_units(&fabric(rates)).unwrap();
            assert_eq!(units.shape.ports(), ports, "{rates:?}");
            let sum: f64 = rates.iter().sum();
            let given = f64::from(ports) * units.bandwidth_bps;
            assert!(given >= sum && given <= sum * (1.0 + 1e-9), "{rates:?}");
        }
        let odd = in_units(&fabric(&[7.31e11, 4.27e11])).unwrap();
        let given = f64::from(odd.shape.ports()) * odd.bandwidth_bps;
        assert!((11.58e11..11.58e11 * 1.05).contains(&given), "{given}");
        assert!(in_units(&fabric(&[8e11, 8e11])).is_none());
    }

    #[test]
    fn a_dead_port_is_as_many_dead_units() {
        let whole = fabric(&[4e11, 8e11]);
        let faults = ["port:3.1", "receiver:2.0", "link:0-1"].map(|text| text.parse::<Fault>().unwrap());
        let broken = Fabric { shape: whole.shape.clone().with_faults(faults.into_iter().collect()).unwrap(), ..whole };
        let units = in_units(&broken).unwrap();
        // The units of the fast port come first.
        assert_eq!(units.shape.faults().to_string(), "port:3.0,port:3.1,receiver:2.2,link:0-1");
    }

    /// With the fast switch dead, (n − 1)/n·m over 400 Gbit/s.
    #[test]
    fn a_dead_plane_leaves_the_rate_of_the_others() {
        let whole = fabric(&[8e11, 4e11]);
        let shape = whole.shape.clone().with_faults([Fault::Switch(0)].into_iter().collect()).unwrap();
        let (size_bytes, settings) = (1u64 << 30, CostSettings::default());
        let bound = any_algorithm(Collective::AllGather, None, &Fabric { shape, ..whole }, settings, size_bytes);
        let bytes_s = 7.0 / 8.0 * size_bytes as f64 * 8.0 / 4e11;
        assert!(bound.seconds() >= bytes_s && bound.seconds() <= bytes_s * 1.001, "{} {bytes_s}", bound.seconds());
    }

    /// No small unit gives both rates: (n − 1)/n·m over 1.367 Tbit/s.
    #[test]
    fn rates_without_a_small_unit_are_bounded_by_nearly_their_sum() {
        let size_bytes = 1u64 << 34;
        let settings = CostSettings::default();
        let bound = any_algorithm(Collective::AllGather, None, &fabric(&[8.99e11, 4.68e11]), settings, size_bytes);
        let bytes_s = 7.0 / 8.0 * size_bytes as f64 * 8.0 / 1.367e12;
        assert!(bound.seconds() >= 0.995 * bytes_s && bound.seconds() <= bytes_s * 1.001, "{}", bound.seconds());
    }

    /// Every GPU has to take in n − 1 blocks over all of its ports: (n − 1)/n·m over 1.2 Tbit/s.
    #[test]
    fn large_buffers_are_bounded_by_the_rate_of_all_ports() {
        let size_bytes = 1u64 << 30;
        let settings = CostSettings::default();
        let bound = any_algorithm(Collective::AllGather, None, &fabric(&[8e11, 4e11]), settings, size_bytes);
        let bytes_s = 7.0 / 8.0 * size_bytes as f64 * 8.0 / 1.2e12;
        assert!(bound.seconds() >= bytes_s && bound.seconds() <= bytes_s * 1.001, "{} {bytes_s}", bound.seconds());
    }
}
