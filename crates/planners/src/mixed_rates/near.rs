//! Near circuits alone: a hop takes the longest delay of any circuit of its topology, so that a far one, even if it
//! carries little, makes all hops long.

use model::{Link, PairRates, Result, Topology};

use crate::cutoffs::mixed_rates::MOST_THRESHOLDS;

/// The topology without its circuits of more than a hop delay, for each that some of them have but the longest; the
/// longest ones first.
///
/// # Errors
/// The errors of [`Topology::new`], none of which a topology has.
pub(super) fn circuits(rated: &Topology, pairs: &PairRates) -> Result<Vec<Topology>> {
    let delay_s = |link: &Link| pairs.hop_delay_s(link.src, link.dst);
    let mut delays_s: Vec<f64> = rated.links().iter().map(delay_s).collect();
    delays_s.sort_by(|a, b| b.total_cmp(a));
    delays_s.dedup();
    let shorter = delays_s.into_iter().skip(1).take(MOST_THRESHOLDS);
    let without = |most_s: f64| {
        let near = rated.links().iter().filter(|link| delay_s(link) <= most_s).copied();
        let near = Topology::new(format!("{}, on near pairs", rated.name()), rated.symmetry().clone(), near)?;
        Ok(near.at_rates_of(pairs))
    };
    shorter.map(without).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{PairClasses, Translations};

    #[test]
    fn far_circuits_are_left_out_by_their_delay() {
        let classes = PairClasses::parse("pair_rates", "inside:2:8Gbps:100ns,0:3:8Gbps:2us").unwrap();
        let pairs = classes.on("pair_rates", 4, (8e9, 1e-6)).unwrap();
        let links = [1, 3].map(|dst| Link { src: 0, dst, count: 1 });
        let ring = Topology::new("ring", Translations::cyclic(4), links).unwrap().at_rates_of(&pairs);
        let left = circuits(&ring, &pairs).unwrap();
        let ends = |topology: &Topology| -> Vec<(u32, u32)> {
            topology.expanded().iter().map(|link| (link.src, link.dst)).collect()
        };
        assert_eq!(ends(&left[0]), [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)]);
        assert_eq!(ends(&left[1]), [(0, 1), (1, 0), (2, 3), (3, 2)]);
        assert_eq!(left.len(), 2);
    }
}
