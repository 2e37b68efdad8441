//! Paths for circuits that come and go at different times, in an iteration that repeats.
//!
//! A circuit keeps its path from when it is set up until it is given up, whatever comes and goes next to it. First each
//! circuit gets one path for the whole iteration, away from those of all others, so that any of them may be lit at any
//! time; circuits between the same GPUs that are never lit at once share one. Where the mesh has no room for that,
//! every configuration's new circuits get paths next to those that stay, and take places that others gave up.

use std::collections::{BTreeMap, BTreeSet};

use model::{Connection, Rank};

use super::routing::Route;

/// Finds paths for circuits between GPUs, of which some have paths already; or says why one is missing.
pub(crate) type Router<'a> = dyn Fn(&[(Rank, Rank)], &[Option<Route>]) -> Result<Vec<Route>, String> + 'a;

/// The paths of every configuration, in the order of its connections; `ports` of a GPU are next to each other. The last
/// configuration is followed by the first.
///
/// # Errors
/// The index of a configuration, and why its circuits have no paths.
pub(crate) fn over_time(
    ports: u32,
    configurations: &[&[Connection]],
    router: &Router<'_>,
) -> Result<Vec<Vec<Route>>, (usize, String)> {
    let between = Between { ports, router };
    between.one_for_each(configurations).or_else(|_| between.next_to_each_other(configurations))
}

/// A path, by its index, and the configurations in which it is taken.
type Taken = (usize, BTreeSet<usize>);

struct Between<'a> {
    ports: u32,
    router: &'a Router<'a>,
}

impl Between<'_> {
    fn pair(&self, one: &Connection) -> (Rank, Rank) {
        ((one.ingress - 1) / self.ports, (one.egress - 1) / self.ports)
    }

    /// One path for each circuit, from the first time it is lit to the last.
    fn one_for_each(&self, configurations: &[&[Connection]]) -> Result<Vec<Vec<Route>>, String> {
        let mut lit_in: BTreeMap<Connection, BTreeSet<usize>> = BTreeMap::new();
        for (index, connections) in configurations.iter().enumerate() {
            connections.iter().for_each(|&one| {
                lit_in.entry(one).or_default().insert(index);
            });
        }
        // By pair of GPUs, its paths.
        let mut paths: BTreeMap<(Rank, Rank), Vec<Taken>> = BTreeMap::new();
        let (mut pairs, mut path_of) = (Vec::new(), BTreeMap::new());
        for (one, lit) in lit_in {
            interruption::check();
            let pair = self.pair(&one);
            let known = paths.entry(pair).or_default();
            let path = match known.iter_mut().find(|(_, taken)| taken.is_disjoint(&lit)) {
                Some((path, taken)) => {
                    taken.extend(lit);
                    *path
                }
                None => {
                    pairs.push(pair);
                    known.push((pairs.len() - 1, lit));
                    pairs.len() - 1
                }
            };
            path_of.insert(one, path);
        }
        let routes = (self.router)(&pairs, &vec![None; pairs.len()])?;
        let of = |connections: &&[Connection]| connections.iter().map(|one| routes[path_of[one]].clone()).collect();
        Ok(configurations.iter().map(of).collect())
    }

    /// Paths for the circuits of one configuration after the other, next to those that stay.
    fn next_to_each_other(&self, configurations: &[&[Connection]]) -> Result<Vec<Vec<Route>>, (usize, String)> {
        let mut made: Vec<Vec<Route>> = Vec::with_capacity(configurations.len());
        let mut stay: BTreeMap<Connection, Route> = BTreeMap::new();
        for (index, connections) in configurations.iter().enumerate() {
            interruption::check();
            // Circuits that stay lit until the first configuration comes again keep the paths that they have in it.
            if let Some(first) = made.first() {
                let rest = &configurations[index..];
                for (one, route) in configurations[0].iter().zip(first) {
                    if rest.iter().all(|later| later.binary_search(one).is_ok()) {
                        stay.entry(*one).or_insert_with(|| route.clone());
                    }
                }
            }
            let routes = self.beside(connections, &stay).map_err(|reason| (index, reason))?;
            let next = configurations.get(index + 1).copied().unwrap_or_default();
            let staying = connections.iter().zip(&routes).filter(|(one, _)| next.binary_search(one).is_ok());
            stay = staying.map(|(one, route)| (*one, route.clone())).collect();
            made.push(routes);
        }
        let ends = made.first().zip(configurations.first()).zip(made.last().zip(configurations.last()));
        if let Some(((first, circuits), (last, others))) = ends {
            let last: BTreeMap<&Connection, &Route> = others.iter().zip(last).collect();
            if circuits.iter().zip(first).any(|(one, route)| last.get(one).is_some_and(|other| *other != route)) {
                return Err((
                    0,
                    "circuits that stay lit when the iteration begins again would need other paths".into(),
                ));
            }
        }
        Ok(made)
    }

    /// Paths for connections of which some stay as they are.
    fn beside(&self, connections: &[Connection], stay: &BTreeMap<Connection, Route>) -> Result<Vec<Route>, String> {
        let known: Vec<Option<Route>> = connections.iter().map(|one| stay.get(one).cloned()).collect();
        let mut taken = BTreeSet::new();
        let is_free = known.iter().flatten().all(|route| places(route).all(|place| taken.insert(place)));
        if !is_free {
            return Err("circuits that come back would need the paths that others have".into());
        }
        let pairs: Vec<(Rank, Rank)> = connections.iter().map(|one| self.pair(one)).collect();
        let found = (self.router)(&pairs, &known)?;
        let is_kept = |(known, found): (&Option<Route>, &Route)| {
            known.as_ref().is_none_or(|known| (known.wavelength, &known.cells) == (found.wavelength, &found.cells))
        };
        if !known.iter().zip(&found).all(is_kept) {
            return Err("the circuits that stay leave no paths for the others".into());
        }
        Ok(known
            .into_iter()
            .zip(found)
            .map(|(known, found)| known.unwrap_or_else(|| free(found, &mut taken)))
            .collect())
    }
}

/// A waveguide from a cell to the next, by a wavelength.
type Place = (u32, u32, u32, u32);

fn places(route: &Route) -> impl Iterator<Item = Place> + '_ {
    let steps = route.cells.windows(2).zip(&route.lanes);
    steps.map(|(pair, &lane)| (pair[0], pair[1], route.wavelength, lane))
}

/// A path on the first waveguides that are free. Wherever circuits fit, one is free for each.
fn free(route: Route, taken: &mut BTreeSet<Place>) -> Route {
    let first_free = |pair: &[u32]| {
        let at = |lane: u32| (pair[0], pair[1], route.wavelength, lane);
        let lane = (0..).find(|&lane| !taken.contains(&at(lane))).unwrap_or(0);
        taken.insert(at(lane));
        lane
    };
    let lanes = route.cells.windows(2).map(first_free).collect();
    Route { lanes, ..route }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::Circuit;
    use crate::mesh::{place, route_beside};

    /// Paths between GPUs of one port each on a mesh.
    fn on(mesh: &str, gpus: u32, configurations: &[&[(u32, u32)]]) -> Result<Vec<Vec<Route>>, (usize, String)> {
        let placed = place(mesh, gpus).unwrap();
        let router = |pairs: &[(Rank, Rank)], known: &[Option<Route>]| {
            let cell = |gpu: Rank| placed.cells[gpu as usize];
            let circuits: Vec<Circuit> =
                pairs.iter().map(|&(src, dst)| Circuit { source: cell(src), destination: cell(dst) }).collect();
            let found = route_beside(&placed.mesh, &circuits, known, 0).unwrap();
            found.routes.into_iter().collect::<Result<_, _>>().map_err(|_| "no path".to_string())
        };
        let connection = |&(src, dst): &(u32, u32)| Connection { ingress: src + 1, egress: dst + 1 };
        let all: Vec<Vec<Connection>> =
            configurations.iter().map(|pairs| pairs.iter().map(connection).collect()).collect();
        over_time(1, &all.iter().map(Vec::as_slice).collect::<Vec<_>>(), &router)
    }

    /// No two paths of a configuration share a place, and who stays from one to the next keeps its path.
    fn check(configurations: &[&[(u32, u32)]], made: &[Vec<Route>]) {
        for (index, routes) in made.iter().enumerate() {
            let mut taken = BTreeSet::new();
            assert!(routes.iter().flat_map(places).all(|place| taken.insert(place)), "{index}");
            let next = (index + 1) % made.len();
            for (pair, route) in configurations[index].iter().zip(routes) {
                let stays = configurations[next].iter().position(|other| other == pair);
                assert!(stays.is_none_or(|place| made[next][place] == *route), "{index}: {pair:?}");
            }
        }
    }

    #[test]
    fn each_circuit_has_one_path_where_all_fit() {
        let turns: [&[(u32, u32)]; 3] = [&[(0, 1), (2, 3)], &[(0, 1), (3, 2)], &[(1, 0), (2, 3)]];
        let made = on("4x4", 4, &turns).unwrap();
        check(&turns, &made);
        assert_eq!(made[0][1], made[2][1]);
    }

    /// By hand: on a line of MZIs one waveguide leads each way from one to the next: 0 → 2 and 1 → 3, which share
    /// the waveguide from 1 to 2, are never lit at once and take turns.
    #[test]
    fn circuits_take_turns_on_a_waveguide() {
        let turns: [&[(u32, u32)]; 2] = [&[(0, 2), (3, 2)], &[(1, 3), (3, 2)]];
        let made = on("1x4", 4, &turns).unwrap();
        check(&turns, &made);
        let cells = |route: &Route| route.cells.clone();
        assert_eq!(made[0].iter().map(cells).collect::<Vec<_>>(), [vec![0, 1, 2], vec![3, 2]]);
        assert_eq!(made[1].iter().map(cells).collect::<Vec<_>>(), [vec![1, 2, 3], vec![3, 2]]);
        let both: [&[(u32, u32)]; 2] = [&[(3, 2)], &[(0, 2), (1, 3)]];
        assert_eq!(on("1x4", 4, &both).unwrap_err().0, 1);
    }

    /// Two waveguides each way: who stays keeps the number of its waveguide when the other goes.
    #[test]
    fn a_circuit_that_stays_keeps_its_waveguide() {
        let turns: [&[(u32, u32)]; 4] = [&[(0, 3), (1, 3)], &[(1, 3)], &[(0, 2), (1, 3)], &[(1, 3), (2, 3)]];
        let made = on("1x4,waveguides=2", 4, &turns).unwrap();
        check(&turns, &made);
    }
}
