//! Circuits on a mesh: one by one, then negotiated, then exhaustively; and proof where not all can be routed.

use model::{Error, Result};

use super::cuts;
use super::exhaustive::{Exhausted, exhaust};
use super::launch::over_budget;
use super::layout::Mesh;
use super::least_power::least_power;
use super::lengths::lengths;
use super::negotiation::{Negotiated, negotiate};
use super::routing::{Impossible, Method, Path, Route, Routing, Unrouted, Usage, numbered};
use super::search::{BLOCKED, LOSS_TOLERANCE_DB, STEP, Search};
use crate::circuit::{Circuit, check_circuits};
use crate::cutoffs::mesh_router::MOST_STATES;

const STATES_WITHOUT_HOPE: u64 = 10_000_000;

/// Routes circuits so that no waveguide or fibre carries two of one wavelength and none loses more than the limit
/// (PCCL, algorithm 3, with better search where penalties fail). Where not all can be routed, as many as were found a
/// way for are.
///
/// Each circuit takes its shortest free path; where that leaves some without, shared places are negotiated; on small
/// meshes all combinations of paths are tried in the end. The same circuits and `seed` give the same routes.
///
/// # Errors
/// A circuit whose ends are no two MZIs of the mesh, or too many circuits; names `circuits`.
pub fn route(mesh: &Mesh, circuits: &[Circuit], seed: u64) -> Result<Routing> {
    route_beside(mesh, circuits, &vec![None; circuits.len()], seed)
}

/// [`route`] where some circuits have routes already, which do not share places with each other. They keep them where
/// all others find one next to them, each on its shortest free path.
///
/// # Errors
/// The errors of [`route`]; as many known routes as circuits are taken.
pub fn route_beside(mesh: &Mesh, circuits: &[Circuit], known: &[Option<Route>], seed: u64) -> Result<Routing> {
    check_circuits(mesh.grid(), circuits)?;
    if known.len() != circuits.len() {
        return Err(Error::value("known", format!("{} routes", known.len()), "one for each circuit, or none"));
    }
    let mut search = Search::new(mesh);
    let kept: Vec<bool> = known.iter().map(Option::is_some).collect();
    let known: Vec<Option<Path>> = known
        .iter()
        .map(|route| {
            route.as_ref().map(|Route { wavelength, cells, .. }| Path { wavelength: *wavelength, cells: cells.clone() })
        })
        .collect();
    let paths = one_by_one(mesh, circuits, known, 0..circuits.len(), &mut search);
    let missing: Vec<usize> = (0..circuits.len()).filter(|&index| paths[index].is_none()).collect();
    if missing.is_empty() {
        let paths = least_power(mesh, circuits, paths.into_iter().flatten().collect(), &kept);
        return Ok(finished(mesh, paths, Method::OneByOne, 0));
    }
    let lossy = too_lossy(mesh, circuits, &missing, &search);
    let impossible = match lossy.first() {
        Some(&(circuit, least_db)) => Some(Impossible::Loss { circuit, least_db }),
        None => cuts::straight(mesh, circuits).map(Impossible::Cut),
    };
    // A circuit that cannot be routed on an empty mesh is left out, so that the others are routed.
    let kept: Vec<usize> = (0..circuits.len()).filter(|index| lossy.iter().all(|(one, _)| one != index)).collect();
    let wanted: Vec<Circuit> = kept.iter().map(|&index| circuits[index]).collect();
    let known: Vec<Option<Path>> = kept.iter().map(|&index| paths[index].clone()).collect();
    let most_states = if impossible.is_some() { STATES_WITHOUT_HOPE } else { MOST_STATES };
    let Negotiated { paths: shared, history, passes } =
        negotiate(mesh, &wanted, &known, &mut search, (seed, most_states));
    let parted = without_shared(mesh, &wanted, shared, &mut search);
    let mut candidates = vec![(known, Method::OneByOne), (parted, Method::Negotiated)];
    if impossible.is_some() {
        // Short circuits take the fewest places.
        let mut order: Vec<usize> = (0..wanted.len()).collect();
        order.sort_by_key(|&index| mesh.grid().distance(wanted[index].source, wanted[index].destination));
        candidates
            .insert(0, (one_by_one(mesh, &wanted, vec![None; wanted.len()], order, &mut search), Method::OneByOne));
    }
    let most = |(paths, _): &(Vec<Option<Path>>, Method)| paths.iter().flatten().count();
    let Some((chosen, method)) = candidates.into_iter().max_by_key(most) else {
        return Ok(finished(mesh, Vec::new(), Method::OneByOne, 0));
    };
    let without_route: Vec<usize> = (0..wanted.len()).filter(|&index| chosen[index].is_none()).collect();
    if without_route.is_empty() && lossy.is_empty() {
        let paths = least_power(mesh, circuits, chosen.into_iter().flatten().collect(), &vec![false; circuits.len()]);
        return Ok(finished(mesh, paths, method, passes));
    }
    let impossible =
        impossible.or_else(|| cuts::grown(mesh, &wanted, &without_route, |place| history[place]).map(Impossible::Cut));
    let mut impossible = impossible.or_else(|| lengths(mesh, &wanted).map(Impossible::Lengths));
    if impossible.is_none() {
        match exhaust(mesh, &wanted, &mut search) {
            Exhausted::Routed(paths) => {
                let paths = least_power(mesh, circuits, paths, &vec![false; circuits.len()]);
                return Ok(finished(mesh, paths, Method::Exhaustive, passes));
            }
            Exhausted::Impossible => impossible = Some(Impossible::Exhausted),
            Exhausted::GaveUp => {}
        }
    }
    let mut usage = Usage::new(mesh);
    for path in chosen.iter().flatten() {
        usage.add(mesh, path);
    }
    let mut paths: Vec<_> = vec![Err(Unrouted::NoFreePath); circuits.len()];
    for (circuit, least_db) in lossy {
        paths[circuit] = Err(Unrouted::Loss { least_db });
    }
    for (index, path) in kept.into_iter().zip(chosen) {
        paths[index] = path.ok_or_else(|| why_not(mesh, circuits[index], &usage, &mut search));
    }
    Ok(routing(mesh, paths, impossible, (method, passes)))
}

fn finished(mesh: &Mesh, paths: Vec<Path>, method: Method, passes: u32) -> Routing {
    routing(mesh, paths.into_iter().map(Ok).collect(), None, (method, passes))
}

fn routing(
    mesh: &Mesh,
    paths: Vec<std::result::Result<Path, Unrouted>>,
    impossible: Option<Impossible>,
    (method, passes): (Method, u32),
) -> Routing {
    let routes = numbered(mesh, paths);
    let over_budget = over_budget(mesh, routes.iter().flatten());
    Routing { routes, impossible, method, passes, over_budget }
}

/// Cost of a place where only free ones are used.
fn free(usage: &Usage) -> impl Fn(usize) -> u32 + use<'_> {
    |place| if usage.is_free(place) { STEP } else { BLOCKED }
}

/// Puts each circuit that has no path yet on its shortest free path, if there is one, in the given order.
fn one_by_one(
    mesh: &Mesh,
    circuits: &[Circuit],
    mut paths: Vec<Option<Path>>,
    order: impl IntoIterator<Item = usize>,
    search: &mut Search,
) -> Vec<Option<Path>> {
    let mut usage = Usage::new(mesh);
    for path in paths.iter().flatten() {
        usage.add(mesh, path);
    }
    for index in order {
        interruption::check();
        if paths[index].is_none() {
            paths[index] = search.cheapest(circuits[index], true, free(&usage));
            if let Some(path) = &paths[index] {
                usage.add(mesh, path);
            }
        }
    }
    paths
}

/// Circuits, of those, that lose more than the limit on an empty mesh, and how much.
fn too_lossy(mesh: &Mesh, circuits: &[Circuit], missing: &[usize], search: &Search) -> Vec<(usize, f64)> {
    let Some(limit_db) = mesh.limit_db() else { return Vec::new() };
    let least = |&index: &usize| search.least_loss_db(circuits[index]).map(|least_db| (index, least_db));
    missing.iter().filter_map(least).filter(|(_, least_db)| *least_db > limit_db + LOSS_TOLERANCE_DB).collect()
}

/// Takes circuits out, those with the most shared places first, until none shares; then routes those again that have
/// free paths.
fn without_shared(
    mesh: &Mesh,
    circuits: &[Circuit],
    mut paths: Vec<Option<Path>>,
    search: &mut Search,
) -> Vec<Option<Path>> {
    let mut usage = Usage::new(mesh);
    for path in paths.iter().flatten() {
        usage.add(mesh, path);
    }
    loop {
        let shared = |path: &Path| usage.places(mesh, path).filter(|&place| usage.excess(place) > 0).count();
        let counts = paths.iter().enumerate().map(|(index, path)| (path.as_ref().map_or(0, shared), index));
        let Some((1.., worst)) = counts.max() else { break };
        if let Some(path) = paths[worst].take() {
            usage.remove(mesh, &path);
        }
    }
    let mut missing: Vec<usize> = (0..circuits.len()).filter(|&index| paths[index].is_none()).collect();
    missing.sort_by_key(|&index| (mesh.grid().distance(circuits[index].source, circuits[index].destination), index));
    for index in missing {
        interruption::check();
        paths[index] = search.cheapest(circuits[index], true, free(&usage));
        if let Some(path) = &paths[index] {
            usage.add(mesh, path);
        }
    }
    paths
}

/// Why a circuit has no route next to the others.
fn why_not(mesh: &Mesh, circuit: Circuit, usage: &Usage, search: &mut Search) -> Unrouted {
    match search.cheapest(circuit, false, free(usage)).and_then(|path| mesh.passed(&path.cells)) {
        Some(passed) => Unrouted::FreePathLoses { loss_db: mesh.loss_db(passed) },
        None => Unrouted::NoFreePath,
    }
}
