//! Routings of circuits on meshes: complete wherever all path systems say so, judged by the checker, refused with
//! proof.

use lightloom_optics::mesh::{
    Impossible, Mesh, MeshSettings, Method, Port, Route, Routing, Unrouted, check, check_cut, check_lengths, follow,
    route, route_beside, states,
};
use lightloom_optics::{Circuit, Grid};
use proptest::prelude::*;

fn grid(rows: u32, columns: u32) -> Grid {
    Grid::new("mesh", rows, columns).unwrap()
}

fn plain(rows: u32, columns: u32) -> MeshSettings {
    MeshSettings::of(grid(rows, columns)).unwrap()
}

fn circuits(pairs: &[(u32, u32)]) -> Vec<Circuit> {
    pairs.iter().map(|&(source, destination)| Circuit { source, destination }).collect()
}

/// Routes, and holds everything that comes out to the checker.
fn judged(settings: &MeshSettings, circuits: &[Circuit], seed: u64) -> Routing {
    let mesh = Mesh::new(settings.clone()).unwrap();
    let routing = route(&mesh, circuits, seed).unwrap();
    let routes: Vec<Option<&Route>> = routing.routes.iter().map(|route| route.as_ref().ok()).collect();
    let losses = check(settings, circuits, &routes).unwrap();
    for (route, judged_db) in routes.iter().zip(&losses) {
        if let (Some(route), Some(judged_db)) = (route, judged_db) {
            let ours_db = mesh.loss_db(mesh.passed(&route.cells).unwrap());
            assert!((ours_db - judged_db).abs() < 1e-9, "{ours_db} dB against {judged_db} dB");
        }
    }
    let followed = follow(settings, &states(&mesh, routes.iter().copied().flatten())).unwrap();
    let mut asked: Vec<(u32, u32, u32)> = circuits
        .iter()
        .zip(&routes)
        .filter_map(|(one, route)| route.map(|route| (one.source, one.destination, route.wavelength)))
        .collect();
    asked.sort_unstable();
    assert_eq!(followed, asked);
    assert!(routing.impossible.is_none() || !routing.is_complete());
    if let Some(Impossible::Cut(cut)) = &routing.impossible {
        assert_eq!(check_cut(settings, circuits, &cut.inside), (cut.circuits, cut.places));
        assert!(cut.circuits > cut.places, "{cut}");
    }
    if let Some(Impossible::Lengths(lengths)) = &routing.impossible {
        assert_eq!(check_lengths(settings, circuits, &lengths.of).unwrap(), (lengths.needed, lengths.places));
        assert!(lengths.needed > lengths.places, "{lengths}");
    }
    routing
}

/// All systems of simple paths, tried one by one: whether the circuits fit. Lanes are counted by their ends.
fn fits(settings: &MeshSettings, circuits: &[Circuit]) -> bool {
    fn step(
        settings: &MeshSettings,
        circuits: &[Circuit],
        used: &mut Vec<(u32, u32, u32)>,
        path: &mut Vec<u32>,
        wavelength: u32,
    ) -> bool {
        let Some(circuit) = circuits.first() else { return true };
        let here = *path.last().unwrap();
        if here == circuit.destination {
            let Some(next) = circuits.get(1) else { return true };
            return (0..settings.wavelengths)
                .any(|wavelength| step(settings, &circuits[1..], used, &mut vec![next.source], wavelength));
        }
        let (rows, columns) = (settings.mzis.rows(), settings.mzis.columns());
        for there in 0..rows * columns {
            let apart = (here / columns).abs_diff(there / columns) + (here % columns).abs_diff(there % columns);
            let lane = (here, there, wavelength);
            let busy = used.iter().filter(|&&other| other == lane).count() as u32;
            if apart != 1 || path.contains(&there) || busy >= settings.waveguides {
                continue;
            }
            used.push(lane);
            path.push(there);
            let found = step(settings, circuits, used, path, wavelength);
            path.pop();
            used.pop();
            if found {
                return true;
            }
        }
        false
    }
    let Some(first) = circuits.first() else { return true };
    (0..settings.wavelengths)
        .any(|wavelength| step(settings, circuits, &mut Vec::new(), &mut vec![first.source], wavelength))
}

#[test]
fn two_circuits_through_one_corner_take_both_ways() {
    let routing = judged(&plain(2, 2), &circuits(&[(0, 3), (0, 3)]), 0);
    let ways: Vec<u32> = routing.routes.iter().map(|route| route.as_ref().unwrap().cells[1]).collect();
    assert_eq!((ways.contains(&1), ways.contains(&2)), (true, true));
}

#[test]
fn a_third_circuit_out_of_a_corner_needs_a_wavelength() {
    let three = circuits(&[(0, 3), (0, 3), (0, 3)]);
    let routing = judged(&plain(2, 2), &three, 0);
    assert_eq!(routing.routed(), 2);
    let Some(Impossible::Cut(cut)) = routing.impossible else { panic!("no cut") };
    assert_eq!((cut.circuits, cut.places), (3, 2));
    let routing = judged(&MeshSettings { wavelengths: 2, ..plain(2, 2) }, &three, 0);
    assert!(routing.is_complete());
    let routing = judged(&MeshSettings { waveguides: 2, ..plain(2, 2) }, &three, 0);
    assert!(routing.is_complete());
}

/// Circuits that leave the one way to the others: greedy shortest paths fail, negotiation does not. No cut among all
/// 512 sets of cells has more circuits than places to leave by; lengths prove it all the same.
#[test]
fn lengths_prove_what_no_cut_does() {
    let settings = plain(3, 3);
    let wanted = circuits(&[(7, 2), (5, 7), (6, 2), (5, 7), (8, 3)]);
    for set in 0..1_u32 << 9 {
        let inside: Vec<u32> = (0..9).filter(|cell| set >> cell & 1 == 1).collect();
        let (leaving, places) = check_cut(&settings, &wanted, &inside);
        assert!(leaving <= places, "{inside:?}");
    }
    assert!(!fits(&settings, &wanted));
    let routing = judged(&settings, &wanted, 0);
    assert!(matches!(routing.impossible, Some(Impossible::Lengths(_))), "{:?}", routing.impossible);
    assert_eq!(routing.routed(), 4);
}

#[test]
fn the_checker_counts_lengths_over_all_places() {
    let settings = MeshSettings { wavelengths: 2, ..plain(1, 3) };
    let wanted = circuits(&[(0, 2), (0, 1), (2, 0)]);
    // From 0 to 2 it is 5 + 7, from 0 to 1 it is 5; the way back has no length. Each has a place of two wavelengths.
    assert_eq!(check_lengths(&settings, &wanted, &[(0, 1, 5), (1, 2, 7)]).unwrap(), (17, 24));
    for wrong in [[(0, 2, 5), (1, 2, 7)], [(0, 1, 5), (0, 1, 5)]] {
        assert!(check_lengths(&settings, &wanted, &wrong).is_err());
    }
}

#[test]
fn circuits_with_another_way_leave_the_only_one() {
    // Two rows: the first circuit's shortest way is the only one of the second, from column 0 to the end of its row.
    let wanted = circuits(&[(1, 2), (0, 3), (5, 6), (4, 7)]);
    let routing = judged(&plain(2, 4), &wanted, 0);
    assert!(!fits(&plain(2, 4), &wanted));
    assert!(!routing.is_complete() && routing.impossible.is_some());
    let wanted = circuits(&[(1, 2), (0, 3), (4, 7)]);
    assert!(fits(&plain(3, 4), &wanted));
    assert!(judged(&plain(3, 4), &wanted, 0).is_complete());
}

#[test]
fn a_lossy_path_is_rejected_and_said_to_be() {
    // Four tiles in a row, 1 cm each: a crossing and a centimetre between neighbours.
    let settings = MeshSettings { max_loss_db: Some(1.0), ..plain(1, 4) };
    let routing = judged(&settings, &circuits(&[(0, 1), (0, 3)]), 0);
    assert!(routing.routes[0].is_ok());
    let least_db = 3.0 * (0.25 + 0.4);
    assert!(matches!(routing.routes[1], Err(Unrouted::Loss { least_db: found }) if (found - least_db).abs() < 1e-12));
    assert!(matches!(routing.impossible, Some(Impossible::Loss { circuit: 1, .. })));
}

#[test]
fn a_detour_within_the_limit_is_found_and_one_beyond_it_is_not_taken() {
    // Three rows of two: the second circuit from 2 to 3 has to go around, over three lines in place of one.
    let pair = circuits(&[(2, 3), (2, 3)]);
    let hop_db = 0.25 + 0.4;
    let wide = MeshSettings { max_loss_db: Some(3.0 * hop_db), ..plain(3, 2) };
    assert!(judged(&wide, &pair, 0).is_complete());
    let narrow = MeshSettings { max_loss_db: Some(3.0 * hop_db - 1e-6), ..plain(3, 2) };
    let routing = judged(&narrow, &pair, 0);
    assert_eq!(routing.impossible, Some(Impossible::Exhausted));
    let without: Vec<_> = routing.routes.iter().filter_map(|route| route.as_ref().err()).collect();
    assert!(
        matches!(without[..], [Unrouted::FreePathLoses { loss_db }] if (loss_db - 3.0 * hop_db).abs() < 1e-12),
        "{without:?}"
    );
}

/// The loss within a tile is that of its waveguides; between interposers that of two couplings.
#[test]
fn losses_are_of_tiles_waveguides_and_fibres() {
    let settings = MeshSettings { tiles: grid(1, 2), interposers: grid(1, 2), tile_size_cm: 2.0, ..plain(2, 4) };
    let mesh = Mesh::new(settings.clone()).unwrap();
    // Row 1 of both interposers, where the one fibre is attached; two MZIs a tile, and so a centimetre apart.
    let routing = judged(&settings, &circuits(&[(8, 15)]), 0);
    let route = routing.routes[0].as_ref().unwrap();
    assert_eq!(route.cells, [8, 9, 10, 11, 12, 13, 14, 15]);
    let expected_db = 6.0 * 0.4 + 2.0 * 0.25 + 2.0 * 0.5;
    assert!((mesh.loss_db(mesh.passed(&route.cells).unwrap()) - expected_db).abs() < 1e-12);
    // From row 0 the fibre is reached by a step down, of the whole height of a tile's row.
    let routing = judged(&settings, &circuits(&[(0, 7)]), 0);
    let cells = &routing.routes[0].as_ref().unwrap().cells;
    assert!(cells.windows(2).any(|pair| pair == [11, 12]), "{cells:?}");
}

#[test]
fn one_fibre_carries_one_circuit_of_a_wavelength() {
    let settings = MeshSettings { interposers: grid(2, 1), ..plain(2, 2) };
    let two = circuits(&[(0, 4), (1, 5)]);
    let routing = judged(&settings, &two, 0);
    assert_eq!(routing.routed(), 1);
    let Some(Impossible::Cut(cut)) = &routing.impossible else { panic!("no cut") };
    assert_eq!(cut.to_string(), "2 circuits must leave rows 0 to 1, and the waveguides out of there carry at most 1");
    assert!(judged(&MeshSettings { fibres: 2, ..settings.clone() }, &two, 0).is_complete());
    assert!(judged(&MeshSettings { wavelengths: 2, ..settings }, &two, 0).is_complete());
}

#[test]
fn the_checker_sees_every_kind_of_fault() {
    let settings = plain(2, 3);
    let wanted = circuits(&[(0, 2), (3, 5)]);
    let good = judged(&settings, &wanted, 0);
    let good: Vec<Route> = good.routes.into_iter().map(Result::unwrap).collect();
    let faulty = |change: &dyn Fn(&mut Vec<Route>)| {
        let mut routes = good.clone();
        change(&mut routes);
        check(&settings, &wanted, &routes.iter().map(Some).collect::<Vec<_>>()).unwrap_err().to_string()
    };
    assert!(
        faulty(&|routes| routes[0].cells[2] = 5).contains("its path does not lead from its source to its destination")
    );
    assert!(faulty(&|routes| routes[0].cells[1] = 5).contains("nothing joins MZI 0 to MZI 5"));
    assert!(faulty(&|routes| routes[0].wavelength = 1).contains("there is no wavelength 1"));
    assert!(faulty(&|routes| routes[0].lanes[0] = 1).contains("waveguide 1 of 1"));
    assert!(faulty(&|routes| routes[0].lanes.truncate(1)).contains("3 MZIs and 1 waveguides"));
    let through_the_other = |routes: &mut Vec<Route>| {
        routes[1].cells = vec![3, 0, 1, 2, 5];
        routes[1].lanes = vec![0; 4];
    };
    assert!(faulty(&through_the_other).contains("carries wavelength 0 of circuit 0 already"));
    let limited = MeshSettings { max_loss_db: Some(1.2), ..settings.clone() };
    let routes: Vec<_> = good.iter().map(Some).collect();
    assert!(check(&limited, &wanted, &routes).unwrap_err().to_string().contains("it loses 1.300 dB"));
}

#[test]
fn the_checker_sees_light_that_goes_astray() {
    let settings = plain(2, 3);
    let mesh = Mesh::new(settings.clone()).unwrap();
    let routing = judged(&settings, &circuits(&[(0, 2), (3, 5)]), 0);
    let states = states(&mesh, routing.routes.iter().flatten());
    assert_eq!(states.len(), 6);
    let mut dark = states.clone();
    dark.remove(1);
    assert!(follow(&settings, &dark).unwrap_err().to_string().contains("light of MZI 0 ends at MZI 1"));
    let mut unlit = states.clone();
    unlit.remove(0);
    assert!(follow(&settings, &unlit).unwrap_err().to_string().contains("no light reaches MZI 1"));
    let mut doubled = states.clone();
    doubled.push(lightloom_optics::mesh::Setting { input: Port::Tile(9), ..states[0] });
    assert!(follow(&settings, &doubled).unwrap_err().to_string().contains("an output is used twice"));
}

#[test]
fn settings_out_of_range_are_refused_by_name() {
    let refused = |settings: MeshSettings| Mesh::new(settings).unwrap_err().field().to_string();
    assert_eq!(refused(MeshSettings { waveguides: 0, ..plain(2, 2) }), "waveguides");
    assert_eq!(refused(MeshSettings { wavelengths: 5000, ..plain(2, 2) }), "wavelengths");
    assert_eq!(refused(MeshSettings { tiles: grid(2, 3), ..plain(4, 4) }), "tiles");
    assert_eq!(refused(MeshSettings { tile_size_cm: f64::NAN, ..plain(4, 4) }), "tile_size_cm");
    assert_eq!(refused(MeshSettings { max_loss_db: Some(-1.0), ..plain(4, 4) }), "max_loss_db");
    assert_eq!(refused(MeshSettings { interposers: grid(4096, 4096), ..plain(2, 2) }), "interposers");
    let mesh = Mesh::new(plain(2, 2)).unwrap();
    for pair in [(0, 4), (1, 1)] {
        let error = route(&mesh, &circuits(&[(0, 1), pair]), 0).unwrap_err();
        assert_eq!(error.field(), "circuits[1]");
    }
}

#[test]
fn the_same_seed_gives_the_same_routes() {
    let settings = plain(8, 8);
    let wanted: Vec<Circuit> =
        (0..24).map(|index| Circuit { source: index, destination: (index * 29 + 37) % 64 }).collect();
    let first = judged(&settings, &wanted, 7);
    assert_eq!(first, judged(&settings, &wanted, 7));
    assert_ne!(first.method, Method::Exhaustive);
}

/// Circuits that are no permutation's but spread: multiplicative steps over the cells.
fn spread(cells: u32, count: u32, seed: u32) -> Vec<Circuit> {
    let pair = |index: u32| ((index * 31 + seed * 7) % cells, (index * 17 + seed * 11 + 5) % cells);
    (0..count)
        .map(pair)
        .filter(|(source, destination)| source != destination)
        .map(|pair| circuits(&[pair])[0])
        .collect()
}

#[test]
fn negotiation_routes_what_shortest_free_paths_leave_without() {
    let settings = plain(10, 10);
    let negotiated = (0..40).filter(|&seed| {
        let routing = judged(&settings, &spread(100, 36, seed), 0);
        routing.method == Method::Negotiated && routing.is_complete()
    });
    assert!(negotiated.count() > 0);
}

/// Known routes are kept where the others find theirs next to them, and given up where they do not.
#[test]
fn known_routes_stay_where_they_can() {
    let mesh = Mesh::new(plain(3, 3)).unwrap();
    let detour = Route { wavelength: 0, cells: vec![0, 3, 4, 1], lanes: vec![0; 3] };
    let wanted = circuits(&[(0, 1), (6, 8)]);
    let routing = route_beside(&mesh, &wanted, &[Some(detour.clone()), None], 0).unwrap();
    assert_eq!(routing.routes[0].as_ref().unwrap(), &detour);
    // Both ways out of cell 0 are needed: the detour takes one of them, and one of those into cell 1.
    let wanted = circuits(&[(0, 1), (0, 3)]);
    let routing = route_beside(&mesh, &wanted, &[Some(detour), None], 0).unwrap();
    assert!(routing.is_complete());
    assert!(route_beside(&mesh, &wanted, &[None], 0).unwrap_err().to_string().starts_with("known: 1 routes"));
}

fn problem(most_cells: u32, most_circuits: usize) -> impl Strategy<Value = (MeshSettings, Vec<Circuit>)> {
    (1..=3_u32, 2..=4_u32, 1..=2_u32, 1..=2_u32)
        .prop_filter("few cells", move |(rows, columns, ..)| rows * columns <= most_cells)
        .prop_flat_map(move |(rows, columns, waveguides, wavelengths)| {
            let cells = rows * columns;
            let pair = (0..cells, 1..cells)
                .prop_map(move |(source, by)| Circuit { source, destination: (source + by) % cells });
            let settings = MeshSettings { waveguides, wavelengths, ..plain(rows, columns) };
            (Just(settings), prop::collection::vec(pair, 0..=most_circuits))
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Wherever all path systems hold a routing, one is found; wherever they hold none, it is proved.
    #[test]
    fn a_routing_is_found_or_refuted_as_all_path_systems_say((settings, wanted) in problem(9, 5), seed in 0..4_u64) {
        let routing = judged(&settings, &wanted, seed);
        let fits = fits(&settings, &wanted);
        prop_assert_eq!(routing.is_complete(), fits);
        prop_assert_eq!(routing.impossible.is_some(), !fits);
    }

    /// On larger meshes of several interposers whatever is routed is right, and every cut that is claimed is one.
    #[test]
    fn routings_and_cuts_hold_on_interposers_joined_by_fibres(
        seed in 0..1000_u64,
        count in 0..60_usize,
        (down, across) in (1..=2_u32, 1..=3_u32),
        (fibres, wavelengths) in (1..=5_u32, 1..=3_u32),
        limit_db in prop::option::of(0.0..12.0),
    ) {
        let settings = MeshSettings {
            interposers: grid(down, across),
            tiles: grid(2, 2),
            fibres,
            wavelengths,
            max_loss_db: limit_db,
            ..plain(4, 4)
        };
        let cells = 16 * down * across;
        let wanted: Vec<Circuit> = (0..count as u64)
            .map(|index| {
                let mixed = (seed * 1_000 + index).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
                let source = (mixed % u64::from(cells)) as u32;
                let by = 1 + (mixed / u64::from(cells) % u64::from(cells - 1)) as u32;
                Circuit { source, destination: (source + by) % cells }
            })
            .collect();
        let routing = judged(&settings, &wanted, seed);
        prop_assert_eq!(routing.routes.len(), wanted.len());
    }
}
