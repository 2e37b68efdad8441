//! A topology from any list of links, as read from a file or a graph object.

use model::{Error, Link, MAX_GPUS, Result, Topology, Translations};

/// The topology `name` of `gpus` GPUs with the circuits `(source, destination, count)`; links of the same
/// pair are added up. The largest translation symmetry that can be found is kept, at O(links · log) for
/// each pair of divisors of `gpus`, and far less where a divisor's translation fails early. Ports are not
/// checked: see [`Topology::check_ports`].
///
/// # Errors
/// Fewer than 2 or more than 65536 GPUs, no link, a GPU out of range, a link from a GPU to itself, or a
/// count of zero.
pub fn from_links(name: &str, gpus: u32, links: &[(u32, u32, u32)]) -> Result<Topology> {
    if !(2..=MAX_GPUS).contains(&gpus) {
        return Err(Error::value("gpus", gpus, format!("2 to {MAX_GPUS}")));
    }
    if links.is_empty() {
        return Err(Error::value("topology", "an empty list of links", "at least one link"));
    }
    let links = links.iter().map(|&(src, dst, count)| Link { src, dst, count });
    Ok(Topology::new(name, Translations::trivial(gpus), links)?.with_found_symmetry())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn symmetry_of_an_edge_list_is_found() {
        let ring: Vec<_> = (0..12).map(|r| (r, (r + 5) % 12, 1)).collect();
        assert_eq!(from_links("r", 12, &ring).unwrap().symmetry(), &Translations::cyclic(12));
        let cube: Vec<_> = (0..8).flat_map(|r| [1, 2, 4].map(|bit| (r, r ^ bit, 1))).collect();
        assert!(from_links("c", 8, &cube).unwrap().symmetry().is_transitive());
    }

    #[test]
    fn wrong_lists_are_refused() {
        for (gpus, links) in [
            (1, vec![(0, 1, 1)]),
            (70_000, vec![(0, 1, 1)]),
            (4, vec![]),
            (4, vec![(0, 4, 1)]),
            (4, vec![(1, 1, 1)]),
            (4, vec![(0, 1, 0)]),
        ] {
            assert!(from_links("x", gpus, &links).is_err(), "{gpus} {links:?}");
        }
    }

    proptest! {
        #[test]
        fn no_link_is_lost_or_made_up(links in prop::collection::vec((0u32..9, 1u32..9, 1u32..4), 1..30)) {
            let links: Vec<_> = links.iter().map(|&(src, by, count)| (src, (src + by) % 9, count)).collect();
            let mut sums = std::collections::BTreeMap::new();
            for &(src, dst, count) in &links {
                *sums.entry((src, dst)).or_insert(0) += count;
            }
            let built: std::collections::BTreeMap<_, _> = from_links("x", 9, &links)
                .unwrap().expanded().iter().map(|link| ((link.src, link.dst), link.count)).collect();
            prop_assert_eq!(built, sums);
        }
    }
}
