//! Circuits between servers: paths judged by the checker, optima by trying all paths, bounds that hold.

use lightloom_optics::fibres::{Fibre, Servers, bound, check, route};
use lightloom_optics::{Circuit, Grid};
use proptest::prelude::*;

fn servers(rows: u32, columns: u32, fibre: Fibre, existing: &[(u32, u32, u32)]) -> Servers {
    Servers::new(Grid::new("servers", rows, columns).unwrap(), fibre, existing).unwrap()
}

/// All simple paths of a circuit, as edges.
fn all_paths(grid: Grid, circuit: Circuit) -> Vec<Vec<(u32, u32)>> {
    fn extend(grid: Grid, path: &mut Vec<u32>, destination: u32, found: &mut Vec<Vec<(u32, u32)>>) {
        let here = *path.last().unwrap();
        if here == destination {
            found.push(path.windows(2).map(|pair| (pair[0], pair[1])).collect());
            return;
        }
        for there in 0..grid.cells() {
            let (a, b) = (grid.place(here), grid.place(there));
            if a.0.abs_diff(b.0) + a.1.abs_diff(b.1) == 1 && !path.contains(&there) {
                path.push(there);
                extend(grid, path, destination, found);
                path.pop();
            }
        }
    }
    let mut found = Vec::new();
    extend(grid, &mut vec![circuit.source], circuit.destination, &mut found);
    found
}

/// The least of the busiest edge over all combinations of paths.
fn least(grid: Grid, fibre: Fibre, existing: &[(u32, u32, u32)], circuits: &[Circuit]) -> u32 {
    let edge = |(from, to): (u32, u32)| match fibre {
        Fibre::OneWay => (from * grid.cells() + to) as usize,
        Fibre::BothWays => (from.min(to) * grid.cells() + from.max(to)) as usize,
    };
    let mut loads = vec![0; (grid.cells() * grid.cells()) as usize];
    for &(from, to, count) in existing {
        loads[edge((from, to))] += count;
    }
    let choices: Vec<Vec<Vec<usize>>> = circuits
        .iter()
        .map(|&one| all_paths(grid, one).into_iter().map(|path| path.into_iter().map(edge).collect()).collect())
        .collect();
    fn descend(choices: &[Vec<Vec<usize>>], loads: &mut [u32], best: &mut u32) {
        let most = *loads.iter().max().unwrap();
        if most >= *best {
            return;
        }
        let Some((paths, rest)) = choices.split_first() else {
            *best = most;
            return;
        };
        for path in paths {
            path.iter().for_each(|&edge| loads[edge] += 1);
            descend(rest, loads, best);
            path.iter().for_each(|&edge| loads[edge] -= 1);
        }
    }
    let mut best = u32::MAX;
    descend(&choices, &mut loads, &mut best);
    best
}

#[test]
fn a_corner_spreads_its_circuits_over_both_its_edges() {
    let circuits = vec![Circuit { source: 0, destination: 8 }; 6];
    let servers = servers(3, 3, Fibre::OneWay, &[]);
    let routing = route(&servers, &circuits, 0).unwrap();
    assert_eq!((routing.fibres, routing.bound.circuits), (3, 3));
    assert_eq!(routing.bound.reason, "6 circuits that leave row 0, column 0 by 2 edges");
}

#[test]
fn circuits_both_ways_share_a_fibre_where_it_carries_both() {
    let circuits = [Circuit { source: 0, destination: 1 }, Circuit { source: 1, destination: 0 }];
    for (fibre, fibres) in [(Fibre::OneWay, 1), (Fibre::BothWays, 2)] {
        let servers = servers(1, 2, fibre, &[]);
        assert_eq!(route(&servers, &circuits, 0).unwrap().fibres, fibres);
    }
}

#[test]
fn wrong_circuits_and_edges_are_refused() {
    let grid = Grid::new("servers", 2, 2).unwrap();
    for edge in [(0, 3, 1), (0, 4, 1), (1, 1, 1), (0, 1, u32::MAX)] {
        assert_eq!(Servers::new(grid, Fibre::OneWay, &[edge]).unwrap_err().field(), "existing[0]");
    }
    let servers = servers(2, 2, Fibre::OneWay, &[]);
    assert_eq!(route(&servers, &[Circuit { source: 0, destination: 4 }], 0).unwrap_err().field(), "circuits[0]");
}

#[test]
fn the_checker_sees_every_kind_of_fault() {
    let grid = Grid::new("servers", 2, 3).unwrap();
    let circuits = [Circuit { source: 0, destination: 2 }];
    let fault = |path: &[u32]| check(grid, Fibre::OneWay, &[], &circuits, &[path.to_vec()]).unwrap_err().to_string();
    assert!(fault(&[0, 1]).contains("does not lead from its source"));
    assert!(fault(&[0, 2]).contains("not neighbours"));
    assert!(fault(&[0, 1, 0, 1, 2]).contains("twice"));
    assert!(check(grid, Fibre::OneWay, &[], &circuits, &[]).unwrap_err().to_string().contains("0 paths"));
    assert_eq!(check(grid, Fibre::OneWay, &[(1, 2, 4)], &circuits, &[vec![0, 1, 2]]).unwrap(), 5);
}

/// Rows, columns, kind of fibre, circuits already there, circuits.
type Problem = (u32, u32, Fibre, Vec<(u32, u32, u32)>, Vec<Circuit>);

fn problem() -> impl Strategy<Value = Problem> {
    (1..=2_u32, 2..=4_u32, prop::bool::ANY).prop_flat_map(|(rows, columns, both)| {
        let cells = rows * columns;
        let fibre = if both { Fibre::BothWays } else { Fibre::OneWay };
        let pair =
            (0..cells, 1..cells).prop_map(move |(source, by)| Circuit { source, destination: (source + by) % cells });
        let existing = prop::collection::vec((0..rows, 0..columns - 1, 0..3_u32), 0..3).prop_map(move |edges| {
            edges
                .into_iter()
                .map(|(row, column, count)| (row * columns + column, row * columns + column + 1, count))
                .collect()
        });
        (Just(rows), Just(columns), Just(fibre), existing, prop::collection::vec(pair, 0..=6))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// On small grids the paths are the best of all; the bound is not above them; the checker counts as many.
    #[test]
    fn small_grids_are_routed_as_well_as_can_be((rows, columns, fibre, existing, circuits) in problem(), seed in 0..3_u64) {
        let servers = servers(rows, columns, fibre, &existing);
        let routing = route(&servers, &circuits, seed).unwrap();
        let best = least(servers.grid(), fibre, &existing, &circuits);
        prop_assert_eq!(check(servers.grid(), fibre, &existing, &circuits, &routing.paths).unwrap(), routing.fibres);
        prop_assert!(routing.bound.circuits <= best, "{:?}", routing.bound);
        prop_assert_eq!(routing.fibres, best);
        prop_assert_eq!(&bound(&servers, &circuits).unwrap(), &routing.bound);
    }
}
