//! The number of paths of an even split over all shortest ones.

use model::{BreadthFirst, Rank, Topology, Traffic};

/// Shortest paths of the arcs of `traffic` on `topology`, of which one stands for all that the symmetry of both moves
/// it to, at most `most` of each. O(links up to the farthest receiver) for each sender, but for those whose arcs all
/// have links of their own.
pub(crate) fn shortest_paths(traffic: &Traffic, topology: &Topology, most: u64) -> u64 {
    let ranks = topology.ranks() as usize;
    let mut out: Vec<Vec<Rank>> = vec![Vec::new(); ranks];
    for link in topology.expanded() {
        out[link.src as usize].push(link.dst);
    }
    let mut search = BreadthFirst::new(ranks);
    let mut is_awaited = vec![false; ranks];
    let mut count = vec![0u64; ranks];
    let mut sum = 0u64;
    let common = traffic.symmetry().meet(topology.symmetry());
    for arcs in traffic.arcs_under(&common).chunk_by(|a, b| a.src == b.src) {
        interruption::check();
        let source = arcs[0].src;
        if arcs.iter().all(|arc| out[source as usize].contains(&arc.dst)) {
            sum += (arcs.len() as u64).saturating_mul(most.min(1));
            continue;
        }
        arcs.iter().for_each(|arc| is_awaited[arc.dst as usize] = true);
        let mut awaited = arcs.len();
        let heads = |rank: Rank| out[rank as usize].iter().copied();
        // When the search reaches the last destination, it knows all shortest paths to it.
        search.search_until(source, heads, |rank| {
            awaited -= usize::from(is_awaited[rank as usize]);
            awaited == 0
        });
        count[source as usize] = 1;
        for &rank in search.reached() {
            let next = search.distance(rank) + 1;
            for &head in out[rank as usize].iter().filter(|&&head| search.distance(head) == next) {
                count[head as usize] = count[head as usize].saturating_add(count[rank as usize]);
            }
        }
        sum += arcs.iter().map(|arc| count[arc.dst as usize].min(most)).sum::<u64>();
        arcs.iter().for_each(|arc| is_awaited[arc.dst as usize] = false);
        search.reached().iter().for_each(|&rank| count[rank as usize] = 0);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Shape, TrafficEntry, Translations};

    /// On a cube there are h! shortest paths between corners that are h apart: 3·1 + 3·2 + 6 from each.
    #[test]
    fn paths_of_a_cube_are_counted_by_hand() {
        let cube = topologies::build("hypercube", &Shape::new(8, &[], 3).unwrap()).unwrap();
        let all = (1..8).map(|dst| TrafficEntry { src: 0, dst, weight: 1.0 });
        let traffic = Traffic::new(Translations::trivial(8), all.clone()).unwrap();
        assert_eq!(shortest_paths(&traffic, &cube, 100), 15);
        assert_eq!(shortest_paths(&traffic, &cube, 2), 3 + 6 + 2);
        // One corner stands for all where all send alike.
        let alike = Traffic::new(Translations::xor(8), all).unwrap();
        assert_eq!(
            shortest_paths(&alike, &cube, 100),
            15 * u64::from(8 / cube.symmetry().meet(alike.symmetry()).order())
        );
        let neighbours = [1, 2, 4].map(|dst| TrafficEntry { src: 0, dst, weight: 1.0 });
        assert_eq!(shortest_paths(&Traffic::new(Translations::trivial(8), neighbours).unwrap(), &cube, 2), 3);
    }
}
