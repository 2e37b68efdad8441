//! The circuits of a topology as matchings: in each, no GPU has more than one circuit out or in (Kőnig 1916).

use model::Topology;

/// A circuit of a link, between orbits of GPUs.
#[derive(Debug, Clone, Copy)]
struct Circuit {
    link: usize,
    src: usize,
    dst: usize,
    matching: usize,
}

/// The matchings of the circuits of every link, by link: as many matchings as the most circuits out of or into a GPU.
/// `order` has all links; a circuit joins the first matching that is free at both of its ends, so that the links that
/// come first are in the first matchings. A matching of orbits is one of GPUs, since translations that fix a GPU fix
/// all. O(circuits · (ports + orbits)).
pub(super) fn matchings(topology: &Topology, order: &[usize]) -> Vec<Vec<usize>> {
    let (degree, orbits) = (topology.degree() as usize, topology.symmetry().orbits() as usize);
    let free = || vec![vec![None::<usize>; degree]; orbits];
    let (mut out, mut into) = (free(), free());
    let mut circuits: Vec<Circuit> = Vec::new();
    for &link in order {
        interruption::check();
        let ends = &topology.links()[link];
        let (src, dst) = (topology.symmetry().orbit(ends.src) as usize, topology.symmetry().orbit(ends.dst) as usize);
        for _ in 0..ends.count {
            let is_free = |at: &[Option<usize>], matching: usize| at[matching].is_none();
            let both = (0..degree).find(|&one| is_free(&out[src], one) && is_free(&into[dst], one));
            let matching = both.unwrap_or_else(|| {
                let of_src = (0..degree).find(|&one| is_free(&out[src], one)).unwrap_or(0);
                let of_dst = (0..degree).find(|&one| is_free(&into[dst], one)).unwrap_or(0);
                make_free(&mut circuits, (&mut out, &mut into), dst, (of_src, of_dst));
                of_src
            });
            out[src][matching] = Some(circuits.len());
            into[dst][matching] = Some(circuits.len());
            circuits.push(Circuit { link, src, dst, matching });
        }
    }
    let mut by_link = vec![Vec::new(); topology.links().len()];
    circuits.iter().for_each(|circuit| by_link[circuit.link].push(circuit.matching));
    by_link
}

type Places = Vec<Vec<Option<usize>>>;

/// Takes the circuit into `dst` out of matching `wanted`: it and those that meet it change places with those of
/// `other`, along the one path of both that ends there.
fn make_free(
    circuits: &mut [Circuit],
    (out, into): (&mut Places, &mut Places),
    dst: usize,
    (wanted, other): (usize, usize),
) {
    let mut path = Vec::new();
    let mut next = into[dst][wanted];
    while let Some(circuit) = next {
        path.push(circuit);
        let Circuit { src, dst, .. } = circuits[circuit];
        next = if path.len() % 2 == 1 { out[src][other] } else { into[dst][wanted] };
    }
    for &circuit in &path {
        let Circuit { src, dst, matching, .. } = circuits[circuit];
        (out[src][matching], into[dst][matching]) = (None, None);
    }
    for &circuit in &path {
        let turned = &mut circuits[circuit];
        turned.matching = if turned.matching == wanted { other } else { wanted };
        out[turned.src][turned.matching] = Some(circuit);
        into[turned.dst][turned.matching] = Some(circuit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Link, Translations};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Every circuit is in one matching, and no GPU is twice in one, written out over all GPUs.
        #[test]
        fn circuits_are_dealt_out_to_as_many_matchings_as_ports(
            (count, period) in (1u32..5, 1u32..5),
            links in prop::collection::vec((0u32..20, 0u32..20, 1u32..4), 1..24), turned in any::<bool>(),
        ) {
            let n = count * period;
            let links = links.iter().map(|&(a, b, count)| Link { src: a % n, dst: b % n, count });
            let links: Vec<Link> = links.filter(|link| link.src != link.dst).collect();
            let topology = Topology::new("random", Translations::periodic(n, period), links).unwrap();
            let mut order: Vec<usize> = (0..topology.links().len()).collect();
            if turned { order.reverse(); }
            let by_link = matchings(&topology, &order);
            let mut used = BTreeSet::new();
            for (link, of) in topology.links().iter().zip(&by_link) {
                prop_assert_eq!(of.len() as u32, link.count);
                for &matching in of {
                    prop_assert!(matching < topology.degree() as usize);
                    for element in topology.symmetry().elements() {
                        let by = |rank| topology.symmetry().apply(element, rank);
                        prop_assert!(used.insert((matching, true, by(link.src))));
                        prop_assert!(used.insert((matching, false, by(link.dst))));
                    }
                }
            }
        }
    }
}
