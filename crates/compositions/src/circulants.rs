//! Circulant topologies along a coordinate: which circuits are worth a look, and the phases on them.

use fronts::RoutingNetwork;
use model::{Link, Routing, Topology, Traffic, TrafficEntry, Translations};

use crate::cutoffs::circulants::{MOST_AT_ONCE, MOST_FOR_TRIPLES, MOST_SEARCHED, WORTH_A_FLOW};
use crate::levels;
use crate::phase::{Kind, Phase};
use crate::relative::{Circuits, Sums};

/// Direct exchanges and exchanges by levels on the best circulant topologies of `span` ranks. O(span² · ports) to find
/// them, and as many flows as are [`WORTH_A_FLOW`].
pub(crate) fn phases(span: u32, ports: u32, routing: Routing) -> Vec<Phase> {
    let mut ranked = ranked(span, ports);
    let mut worth: Vec<Circuits> = ranked.iter().take(WORTH_A_FLOW).map(|(_, _, circuits)| circuits.clone()).collect();
    ranked.sort_by_key(|(diameter, sum, _)| (*sum, *diameter));
    worth.extend(ranked.iter().take(WORTH_A_FLOW).map(|(_, _, circuits)| circuits.clone()));
    worth.sort();
    worth.dedup();
    worth.into_iter().flat_map(|circuits| phases_on(span, circuits, routing)).collect()
}

/// The circulants of least diameter, then of least mean distance, this many at most. O(span² · ports).
pub(crate) fn narrowest(span: u32, ports: u32, most: usize) -> Vec<Circuits> {
    ranked(span, ports).into_iter().take(most).map(|(_, _, circuits)| circuits).collect()
}

/// Diameter, sum of distances and circuits, in this order.
fn ranked(span: u32, ports: u32) -> Vec<(u32, u32, Circuits)> {
    let mut ranked: Vec<(u32, u32, Circuits)> = Vec::new();
    for circuits in choices(span, ports) {
        interruption::check();
        if let Some(distances) = levels::distances(span, &circuits) {
            let diameter = distances.iter().copied().max().unwrap_or(0);
            ranked.push((diameter, distances.iter().sum(), circuits));
        }
    }
    ranked.sort_by_key(|(diameter, sum, _)| (*diameter, *sum));
    ranked
}

fn phases_on(span: u32, circuits: Circuits, routing: Routing) -> Vec<Phase> {
    let mut phases = Vec::new();
    let at_once = if span <= MOST_AT_ONCE { exchange(span, &circuits, routing) } else { Vec::new() };
    for (hops, load) in at_once {
        let sums = Sums { steps: 1, hops, load, amount: load };
        phases.push(Phase { span, circuits: circuits.clone(), kind: Kind::Exchange, sums });
    }
    let sums = levels::sums(span, &circuits);
    phases.push(Phase { span, circuits, kind: Kind::Levels, sums });
    phases
}

/// Choices of hops and load with which every rank sends to every other at once, the one with the fewest hops first.
fn exchange(span: u32, circuits: &Circuits, routing: Routing) -> Vec<(f64, f64)> {
    let group = Translations::cyclic(span);
    let place = |ahead: i64| ahead.rem_euclid(i64::from(span)) as u32;
    let links = circuits.iter().map(|&(ahead, count)| Link { src: 0, dst: place(ahead), count });
    let arcs = (1..span).map(|dst| TrafficEntry { src: 0, dst, weight: 1.0 });
    let (Ok(topology), Ok(traffic)) = (Topology::new("circulant", group.clone(), links), Traffic::new(group, arcs))
    else {
        return Vec::new();
    };
    let front = RoutingNetwork::of(topology).front(&traffic, routing);
    front.map_or(Vec::new(), |front| front.points().iter().map(|p| (f64::from(p.hops), p.load)).collect())
}

/// Circuits of `ports` ports that may be good for `span` ranks. One circuit may be taken to lead one place ahead:
/// others only name the ranks differently.
fn choices(span: u32, ports: u32) -> Vec<Circuits> {
    let n = i64::from(span);
    if ports >= span - 1 {
        // Every rank its own circuit, and the ports left over in turn.
        let count = |ahead: u32| ports / (span - 1) + u32::from(ahead <= ports % (span - 1));
        return vec![(1..span).map(|ahead| (i64::from(ahead), count(ahead))).collect()];
    }
    let mut sets: Vec<Vec<i64>> = Vec::new();
    match ports {
        0 | 1 => {}
        2 => sets.extend(seconds(span).into_iter().map(|g| vec![1, i64::from(g)])),
        3 if span <= MOST_FOR_TRIPLES => {
            sets.extend((1..n).flat_map(|g| (g..n).map(move |h| vec![1, g, h])));
        }
        _ => {
            let powers = |g: i64| (0..ports).scan(1i64, move |power, _| Some(std::mem::replace(power, *power * g % n)));
            let most = n.min(256).min(i64::from(2 + MOST_SEARCHED / span / ports));
            sets.extend((2..most).map(|g| powers(g).collect()));
            if ports.is_multiple_of(2) {
                let half = |g: i64| powers(g).take(ports as usize / 2).flat_map(move |p| [p, (n - p) % n]);
                sets.extend((2..most).map(|g| half(g).collect()));
            }
            sets.push((1..=i64::from(ports)).collect());
        }
    }
    sets.iter().filter_map(|set| circuits(set, n)).collect()
}

/// The second of two circuits, the first of which leads one place ahead: all, or where these are too many those next to
/// √n and √(3n), near which the diameter is least (double loops; Bermond, Comellas and Hsu 1995), and to their
/// opposites.
fn seconds(span: u32) -> Vec<u32> {
    let most = MOST_SEARCHED / span;
    if most >= span {
        return (1..span).collect();
    }
    let window = most / 8;
    let near = |square: f64| {
        let root = square.sqrt() as u32;
        root.saturating_sub(window).max(2)..(root + window).min(span)
    };
    let (n, mut chosen) = (f64::from(span), vec![1, span - 1]);
    for ahead in near(n).chain(near(3.0 * n)) {
        chosen.extend([ahead, span - ahead]);
    }
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}

/// The set with equal members counted; `None` where one leads nowhere.
fn circuits(set: &[i64], n: i64) -> Option<Circuits> {
    let mut sorted = set.to_vec();
    sorted.sort_unstable();
    let mut circuits: Circuits = Vec::new();
    for ahead in sorted {
        if ahead % n == 0 {
            return None;
        }
        match circuits.last_mut() {
            Some((last, count)) if *last == ahead => *count += 1,
            _ => circuits.push((ahead, 1)),
        }
    }
    Some(circuits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diameter(span: u32, second: u32) -> u32 {
        levels::distances(span, &vec![(1, 1), (i64::from(second), 1)]).unwrap().into_iter().max().unwrap()
    }

    #[test]
    fn few_ranks_have_every_second_circuit_and_many_those_of_small_diameter() {
        assert_eq!(seconds(4096).len(), 4095);
        for span in [5000, 8192, 16384] {
            let chosen = seconds(span);
            assert!(chosen.len() <= (MOST_SEARCHED / span) as usize + 2);
            // No double loop has a diameter below √(3n) − 2.
            let least = (3.0 * f64::from(span)).sqrt() - 2.0;
            let found = chosen.iter().map(|&second| diameter(span, second)).min().unwrap();
            assert!(f64::from(found) <= 1.1 * least, "{span}: {found}, at least {least}");
        }
    }
}
