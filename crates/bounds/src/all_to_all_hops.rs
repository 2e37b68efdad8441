//! An All-to-All whose flows each stay on one topology needs this many slots of one hop (theorem 1 of "To
//! reconfigure or not to reconfigure", there for one port).
//!
//! With k ports a rank has at most k others at one hop, k² at two, and so on, on each of d' topologies. Its
//! n−1 flows take these places, the nearest first, and one slot moves at most k blocks per rank. So the
//! rounds have at least Σ hops / k slots together. With k = 1 this is
//! d'·q(q+1)/2 + u(q+1), q = ⌊(n−1)/d'⌋, u = (n−1) mod d'. Class: store and forward, blocks whole, every flow
//! on one topology.

use model::Bound;

/// Theorem 1 over all numbers of topologies: the least of `hop_s` (T) times the slots and `reconfiguration_s` (R) for
/// each topology but the first, which may be in force already. For blocks that are all of one size. O(n · hops).
pub fn all_to_all_rounds(ranks: u32, ports: u32, hop_s: f64, reconfiguration_s: f64) -> Bound {
    let price_s = |topologies: u32| {
        let slots = all_to_all_hops(ranks, ports, topologies);
        f64::from(topologies - 1) * reconfiguration_s + slots as f64 * hop_s
    };
    Bound {
        seconds: (1..ranks.max(2)).map(price_s).fold(f64::INFINITY, f64::min),
        class: format!(
            "all-to-all in rounds of whole blocks, store and forward, each flow on one topology of degree at most {ports}"
        ),
    }
}

/// Least slots of one hop over `topologies` topologies of `ports` circuits per rank; at least one of each.
/// The completion time is at least this times T, and R for each topology. O(hops of the last flow).
pub fn all_to_all_hops(ranks: u32, ports: u32, topologies: u32) -> u64 {
    let (ports, mut left) = (u64::from(ports.max(1)), u64::from(ranks.saturating_sub(1)));
    let (mut places, mut hops, mut moved) = (u64::from(topologies.max(1)) * ports, 1, 0);
    while left > 0 {
        let taken = left.min(places);
        moved += taken * hops;
        left -= taken;
        places = places.saturating_mul(ports);
        hops += 1;
    }
    moved.div_ceil(ports)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_one_port_it_is_theorem_1() {
        for n in 2..200u64 {
            for topologies in 1..n {
                let (q, u) = ((n - 1) / topologies, (n - 1) % topologies);
                let expected = topologies * q * (q + 1) / 2 + u * (q + 1);
                assert_eq!(all_to_all_hops(n as u32, 1, topologies as u32), expected, "n {n}, {topologies}");
            }
        }
    }

    #[test]
    fn by_hand_for_eight_ranks() {
        // The paper's §2.3: one, two and seven topologies; and two ports: 2·1 + 4·2 + 1·3 = 13 blocks moved.
        assert_eq!([1, 2, 7].map(|topologies| all_to_all_hops(8, 1, topologies)), [28, 16, 7]);
        assert_eq!(all_to_all_hops(8, 2, 1), 7);
    }
}
