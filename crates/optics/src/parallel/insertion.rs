//! Each topology where the one before was: what both have stays, the rest finds room.

use std::collections::BTreeMap;

use model::{Rank, Topology};

use super::colouring::{Colouring, DARK, Placed};

/// The first topology by itself, each of the others with the circuits that the one before has on its switches. Another
/// circuit takes a switch that is dark at both ends; without such a switch, circuits that alternate between a switch
/// that is dark at its source and one that is dark at its destination are swapped (König's proof), along the path that
/// moves the fewest that would have stayed.
pub(super) fn follow_on(topologies: &[&Topology], slowest_first: &[usize]) -> Vec<Colouring> {
    let mut colourings: Vec<Colouring> = Vec::with_capacity(topologies.len());
    for topology in topologies {
        let next = match colourings.last() {
            None => Colouring::by_itself(topology, slowest_first),
            Some(before) => after(before, topology),
        };
        colourings.push(next);
    }
    colourings
}

fn after(before: &Colouring, topology: &Topology) -> Colouring {
    let switches = before.out.len();
    let mut left: BTreeMap<(Rank, Rank), u32> =
        topology.expanded().into_iter().map(|link| ((link.src, link.dst), link.count)).collect();
    let mut next = Colouring::dark(switches, topology.ranks());
    for switch in 0..switches {
        for (src, &dst) in (0..).zip(&before.out[switch]) {
            if let Some(count) = left.get_mut(&(src, dst)).filter(|count| **count > 0) {
                *count -= 1;
                next.join(switch, src, dst);
            }
        }
    }
    for ((src, dst), count) in left {
        interruption::check();
        (0..count).for_each(|_| insert(&mut next, before, src, dst));
    }
    next
}

fn insert(next: &mut Colouring, before: &Colouring, src: Rank, dst: Rank) {
    let dark = |peers: &[Vec<Rank>], rank: Rank| -> Vec<usize> {
        (0..peers.len()).filter(|&switch| peers[switch][rank as usize] == DARK).collect()
    };
    let (at_src, at_dst) = (dark(&next.out, src), dark(&next.into, dst));
    // Among the switches that are dark now, one that carried something before changes in any case.
    let both = at_src.iter().copied().filter(|switch| at_dst.contains(switch));
    let changes = |switch: usize| {
        u32::from(before.out[switch][src as usize] == DARK) + u32::from(before.into[switch][dst as usize] == DARK)
    };
    if let Some(switch) = both.min_by_key(|&switch| (changes(switch), switch)) {
        next.join(switch, src, dst);
        return;
    }
    let paths = at_src.iter().flat_map(|&free| at_dst.iter().map(move |&wanted| (free, wanted)));
    let cheapest = paths
        .map(|(free, spare)| {
            let path = path_at(next, dst, free, spare);
            let stayed = path.iter().filter(|&&(on, src, dst)| before.out[on][src as usize] == dst).count();
            (stayed, path.len(), free, spare, path)
        })
        .min();
    if let Some((.., free, spare, path)) = cheapest {
        next.swap((free, spare), &path);
        next.join(free, src, dst);
    }
}

/// The circuits from `dst` on that alternate between `free`, on which something ends there, and `spare`, on which
/// nothing does. They do not reach a source that is dark on `free`.
fn path_at(colouring: &Colouring, dst: Rank, free: usize, spare: usize) -> Vec<Placed> {
    let mut path = Vec::new();
    let mut at = dst;
    while colouring.into[free][at as usize] != DARK {
        let src = colouring.into[free][at as usize];
        path.push((free, src, at));
        at = colouring.out[spare][src as usize];
        if at == DARK {
            break;
        }
        path.push((spare, src, at));
    }
    path
}
