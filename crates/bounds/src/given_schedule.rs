//! No topology of degree d can serve a given step faster than this, whatever is reconfigured when.
//!
//! A GPU with d ports has at most d others at one hop, d² at two, and so on (Moore). The peers of a
//! rank fill these places, the largest transfers nearest. Then, for one step,
//!
//! - the longest path is at least the distance of the last place that is filled;
//! - the n·d circuits carry, in transfers, at least Σ weight · distance, so the busiest carries at least
//!   the mean of it; and d circuits of one rank carry all that it sends or receives.
//!
//! Where packets overlap hop delays with queueing, a step takes the larger of the two and not their sum.
//!
//! Reconfigurations are bounded by zero. Class: this schedule, any topology in each step.

use model::{Bound, CostSettings, Fabric, Overlap, Propagation, Schedule, Traffic, sum_seconds};

/// Bound for `schedule` with a buffer of `size_bytes`, in O(steps · peers log peers).
pub fn given_schedule(schedule: &Schedule, fabric: &Fabric, settings: CostSettings, size_bytes: u64) -> Bound {
    let ports = fabric.shape.ports();
    let seconds = sum_seconds(schedule.steps().iter().flat_map(|step| {
        let (hops, load) = least_hops_and_load(step.traffic(), ports);
        let reach = match settings.propagation {
            Propagation::Hops => f64::from(hops),
            Propagation::InverseThroughput => f64::from(ports) * load,
        };
        let bytes = size_bytes as f64 * step.share();
        let (propagation_s, transmission_s) = (fabric.hop_delay_s * reach, fabric.byte_s() * bytes * load);
        match settings.overlap {
            Overlap::Additive => [fabric.startup_s, propagation_s, transmission_s],
            Overlap::Pipelined => {
                [fabric.startup_s, f64::max(fabric.hop_delay_s * f64::from(hops), transmission_s), 0.0]
            }
        }
    }));
    Bound {
        seconds,
        class: format!(
            "{} as given, any topology of degree at most {ports} in each step, any reconfigurations",
            schedule.algorithm()
        ),
    }
}

/// Least (hops, load) of `traffic` over all topologies with `ports` circuits out of and into each rank.
fn least_hops_and_load(traffic: &Traffic, ports: u32) -> (u32, f64) {
    let orbits = traffic.symmetry().orbits() as usize;
    let mut sent: Vec<Vec<f64>> = vec![Vec::new(); orbits];
    for arc in traffic.arcs() {
        sent[traffic.symmetry().orbit(arc.src) as usize].push(arc.weight);
    }
    let (mut hops, mut transfers) = (1, 0.0);
    for weights in &mut sent {
        weights.sort_unstable_by(|a, b| b.total_cmp(a));
        let (mut distance, mut places, mut left) = (1, u64::from(ports), u64::from(ports));
        for weight in weights.iter() {
            if left == 0 {
                distance += 1;
                places = places.saturating_mul(u64::from(ports));
                left = places;
            }
            left -= 1;
            transfers += weight * f64::from(distance);
            hops = hops.max(distance);
        }
    }
    let mean = transfers / (orbits as f64 * f64::from(ports));
    (hops, mean.max(traffic.node_load() / f64::from(ports)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Arc, Translations};

    fn shifts(n: u32, offsets: &[u32]) -> Traffic {
        let arcs = offsets.iter().map(|&dst| Arc { src: 0, dst, weight: 1.0 });
        Traffic::new(Translations::cyclic(n), arcs).unwrap()
    }

    #[test]
    fn a_matching_costs_one_hop_and_its_share_of_the_ports() {
        assert_eq!(least_hops_and_load(&shifts(8, &[3]), 1), (1, 1.0));
        assert_eq!(least_hops_and_load(&shifts(8, &[3]), 2), (1, 0.5));
    }

    #[test]
    fn more_peers_than_ports_need_more_hops() {
        // One port: peers at distances 1, 2, 3 at best, so the one circuit carries 1 + 2 + 3.
        assert_eq!(least_hops_and_load(&shifts(8, &[1, 2, 3]), 1), (3, 6.0));
        // Two ports: two peers at one hop, four at two: (2·1 + 4·2) / 2.
        assert_eq!(least_hops_and_load(&shifts(16, &[1, 2, 3, 4, 5, 6]), 2), (2, 5.0));
    }

    #[test]
    fn a_broadcast_is_bounded_by_its_root() {
        let star = (1..5).map(|dst| Arc { src: 0, dst, weight: 1.0 });
        let star = Traffic::new(Translations::trivial(8), star).unwrap();
        // The root's two circuits carry four transfers; the mean over all ranks is less.
        assert_eq!(least_hops_and_load(&star, 2), (2, 2.0));
    }
}
