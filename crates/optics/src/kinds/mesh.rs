//! MZIs on interposers (PCCL, §2, §4.2): every circuit has a way of its own through the mesh, on one wavelength.
//!
//! `mesh:ROWSxCOLUMNS`: one interposer of this many MZIs; settings follow as `,key=value` ([`place`]). The mesh is one
//! switch whose ports are the GPUs' transmitters and receivers, numbered as a crossbar's. A circuit that stays keeps
//! its way where the new ones find theirs next to it.

use std::collections::BTreeMap;

use model::{
    Connection, Error, Fabric, Light, LightPath, MziMesh, MziPort, MziState, Rank, Result, Shape, Topology, counted,
};

use crate::circuit::Circuit;
use crate::grid::{Grid, Side};
use crate::held::Held;
use crate::kind::{Assignment, Kind, PortMap};
use crate::kinds::crossbar::Crossbar;
use crate::mesh::{
    Impossible, Placed, Port, Route, Unrouted, cut_by_a_line, loss_reason, over_budget, over_time, parse_settings,
    place, route_beside, states_of,
};

/// MZIs on interposers.
pub(super) struct OfMzis;

impl Kind for OfMzis {
    fn name(&self) -> &'static str {
        "mesh"
    }

    fn parameters(&self) -> &'static str {
        "ROWSxCOLUMNS[,key=value]"
    }

    fn summary(&self) -> &'static str {
        "MZIs on interposers, a tile for each GPU; every circuit has a path through waveguides and a wavelength"
    }

    fn source(&self) -> &'static str {
        "PCCL §2, §4.2, algorithm 3"
    }

    fn numbering(&self) -> &'static str {
        "transmitter p of GPU g is at ingress port g·d + p + 1, receiver p at the egress port of that number (d ports \
        per \
         GPU, p and g from 0); GPUs are on the tiles of one interposer after the other, row by row"
    }

    fn check(&self, parameters: &str) -> Result<()> {
        parse_settings(parameters).map(|_| ())
    }

    fn port_map(&self, parameters: &str, shape: &Shape) -> Result<PortMap> {
        place(parameters, shape.gpus())?;
        let mut map = Crossbar.port_map("", shape)?;
        map.switches.iter_mut().for_each(|switch| switch.name = self.name().into());
        Ok(map)
    }

    /// Whether every circuit finds a path on the empty mesh, which is what `light` falls back on.
    fn admits(&self, parameters: &str, shape: &Shape, topology: &Topology) -> Result<()> {
        let placed = place(parameters, shape.gpus())?;
        tiles_have_enough(&placed, topology, None, "")?;
        let pairs = topology.expanded().into_iter();
        let pairs: Vec<(Rank, Rank)> =
            pairs.flat_map(|link| (0..link.count).map(move |_| (link.src, link.dst))).collect();
        let found = routed(&placed, &pairs, &vec![None; pairs.len()]);
        found.and_then(|routes| within_budgets(&placed, &routes)).map_err(|reason| no_way(topology.name(), &reason))
    }

    fn keeps_off_failed_ports(&self) -> bool {
        true
    }

    fn assign(&self, parameters: &str, fabric: &Fabric, held: &[Held]) -> Result<Assignment> {
        let placed = place(parameters, fabric.shape.gpus())?;
        let mut before = None;
        for held in held {
            let beside = before.filter(|_| held.change.is_some_and(|change| change.in_background));
            tiles_have_enough(&placed, held.topology, beside, &format!("{}, ", held.when()))?;
            before = Some(held.topology);
        }
        Crossbar.assign("", fabric, held)
    }

    fn mesh(&self, parameters: &str, shape: &Shape) -> Result<Option<MziMesh>> {
        let Placed { mesh, limits, order, .. } = place(parameters, shape.gpus())?;
        let settings = mesh.settings();
        let [transmitters, receivers] = limits.map(|limit| limit.unwrap_or(shape.ports()));
        let sides = |grid: Grid| [grid.rows(), grid.columns()];
        Ok(Some(MziMesh {
            mzis: sides(settings.mzis),
            tiles: sides(settings.tiles),
            interposers: sides(settings.interposers),
            waveguides: settings.waveguides,
            wavelengths: settings.wavelengths,
            fibres: settings.fibres,
            transmitters,
            receivers,
            tile_size_cm: settings.tile_size_cm,
            crossing_loss_db: settings.losses.crossing_db,
            waveguide_loss_db_per_cm: settings.losses.waveguide_db_per_cm,
            coupling_loss_db: settings.losses.coupling_db,
            max_loss_db: settings.max_loss_db,
            launch_power: settings.launch_power,
            fibre_lengths: settings.fibre_lengths.clone(),
            interposer_order: order,
        }))
    }

    fn light(&self, parameters: &str, fabric: &Fabric, held: &[Held], given: &Assignment) -> Result<Vec<Light>> {
        let placed = place(parameters, fabric.shape.gpus())?;
        let mut before = BTreeMap::new();
        let mut light = Vec::with_capacity(held.len());
        for (held, connections) in held.iter().zip(&given.connections) {
            let connections: Vec<Connection> = connections.iter().flatten().copied().collect();
            let refused = |reason: String| no_way(&format!("{} {}", held.topology.name(), held.when()), &reason);
            let routes = routed_beside(&placed, fabric.shape.ports(), &connections, &before).map_err(refused)?;
            if held.change.is_some_and(|change| change.in_background) {
                // The circuits from before are in use while the new ones are set up.
                let new = connections.iter().zip(&routes).filter(|&(one, route)| before.get(one) != Some(route));
                let at_once: Vec<Route> = before.values().chain(new.map(|(_, route)| route)).cloned().collect();
                within_budgets(&placed, &at_once).map_err(refused)?;
            }
            light.push(lit(&placed, fabric.shape.ports(), &connections, &routes));
            before = connections.into_iter().zip(routes).collect();
        }
        Ok(light)
    }

    fn light_over_time(
        &self,
        parameters: &str,
        shape: &Shape,
        configurations: &[(f64, &[Connection])],
    ) -> Result<Vec<Light>> {
        let placed = place(parameters, shape.gpus())?;
        let ports = shape.ports();
        let connections: Vec<&[Connection]> = configurations.iter().map(|(_, connections)| *connections).collect();
        ports_are_there(&placed, ports, &connections)?;
        let router = |pairs: &[(Rank, Rank)], known: &[Option<Route>]| routed(&placed, pairs, known);
        let routes = over_time(ports, &connections, &router).map_err(|(index, reason)| {
            let time_us = configurations[index].0 * 1e6;
            no_way(&format!("the iteration, at {time_us:.3} us"), &reason)
        })?;
        for ((time_s, _), routes) in configurations.iter().zip(&routes) {
            within_budgets(&placed, routes)
                .map_err(|reason| no_way(&format!("the iteration, at {:.3} us", time_s * 1e6), &reason))?;
        }
        Ok(connections
            .iter()
            .zip(routes)
            .map(|(connections, routes)| lit(&placed, ports, connections, &routes))
            .collect())
    }
}

/// # Errors
/// A port that is used at its GPU, and that the tile has no transmitter or receiver for.
fn ports_are_there(placed: &Placed, ports: u32, configurations: &[&[Connection]]) -> Result<()> {
    let used = configurations.iter().flat_map(|connections| connections.iter());
    for (port, limit, noun) in used
        .flat_map(|one| [(one.ingress, placed.limits[0], "transmitter"), (one.egress, placed.limits[1], "receiver")])
    {
        let (gpu, number) = ((port - 1) / ports, (port - 1) % ports);
        if let Some(limit) = limit.filter(|&limit| number >= limit) {
            let (tile, has) = (placed.tiles[gpu as usize], counted(limit, noun));
            let reason = format!("tile {tile} (GPU {gpu}) has {has}, and the iteration uses port {number} (from 0)");
            return Err(Error::infeasible("optics", reason));
        }
    }
    Ok(())
}

/// # Errors
/// A tile from which more circuits leave at once than it has transmitters, or where more arrive than it has receivers:
/// those of a topology, together with those of the topology before where the new ones are set up while it is in use.
/// `when` is put before the count.
fn tiles_have_enough(placed: &Placed, topology: &Topology, beside: Option<&Topology>, when: &str) -> Result<()> {
    let mut at_once: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for link in [Some(topology), beside].into_iter().flatten().flat_map(Topology::expanded) {
        let count = at_once.entry((link.src, link.dst)).or_insert(0);
        *count = link.count.max(*count);
    }
    let mut counts: [BTreeMap<u32, u32>; 2] = Default::default();
    for ((src, dst), count) in at_once {
        *counts[0].entry(src).or_insert(0) += count;
        *counts[1].entry(dst).or_insert(0) += count;
    }
    let nouns = [("transmitter", "leave"), ("receiver", "arrive")];
    for ((counts, limit), (noun, verb)) in counts.iter().zip(placed.limits).zip(nouns) {
        let Some((&gpu, &count)) = counts.iter().find(|(_, count)| limit.is_some_and(|limit| **count > limit)) else {
            continue;
        };
        let has = counted(limit.unwrap_or(0), noun);
        let (name, tile) = (topology.name(), placed.tiles[gpu as usize]);
        let what = match beside {
            Some(before) => {
                format!(
                    "circuits {verb} there at once: those of {} are lit while those of {name} are set up",
                    before.name()
                )
            }
            None => format!("circuits of {name} {verb} there at once"),
        };
        return Err(Error::infeasible("optics", format!("tile {tile} (GPU {gpu}) has {has}; {when}{count} {what}")));
    }
    Ok(())
}

fn no_way(circuits: &str, reason: &str) -> Error {
    Error::infeasible("optics", format!("the mesh has no paths for all circuits of {circuits}: {reason}"))
}

/// A route for each connection, its former route where the others find theirs, else on the empty mesh; or why a route
/// is missing.
fn routed_beside(
    placed: &Placed,
    ports: u32,
    connections: &[Connection],
    before: &BTreeMap<Connection, Route>,
) -> std::result::Result<Vec<Route>, String> {
    let gpu = |port: u32| (port - 1) / ports;
    let pair = |one: &Connection| (gpu(one.ingress), gpu(one.egress));
    let mut order: Vec<usize> = (0..connections.len()).collect();
    order.sort_by_key(|&index| pair(&connections[index]));
    let pairs: Vec<(Rank, Rank)> = order.iter().map(|&index| pair(&connections[index])).collect();
    let known: Vec<Option<Route>> = order.iter().map(|&index| before.get(&connections[index]).cloned()).collect();
    let mut found = routed(placed, &pairs, &known).and_then(|routes| {
        within_budgets(placed, &routes)?;
        Ok(routes)
    });
    if found.is_err() && known.iter().any(Option::is_some) {
        found = routed(placed, &pairs, &vec![None; pairs.len()]);
    }
    let found = found?;
    within_budgets(placed, &found)?;
    let mut routes: Vec<(usize, Route)> = order.into_iter().zip(found).collect();
    routes.sort_by_key(|(index, _)| *index);
    Ok(routes.into_iter().map(|(_, route)| route).collect())
}

/// A route for each pair of GPUs, the known one where the others find theirs; or why one is missing. The same pairs in
/// the same order are given the same routes.
fn routed(placed: &Placed, pairs: &[(Rank, Rank)], known: &[Option<Route>]) -> std::result::Result<Vec<Route>, String> {
    let cell = |gpu: Rank| placed.cells[gpu as usize];
    let circuits: Vec<Circuit> =
        pairs.iter().map(|&(src, dst)| Circuit { source: cell(src), destination: cell(dst) }).collect();
    // Quickly known, where the search would go on to route as many as it can.
    if let Some(cut) = cut_by_a_line(&placed.mesh, &circuits) {
        return Err(format!("{cut}"));
    }
    let routing = route_beside(&placed.mesh, &circuits, known, 0).map_err(|error| error.to_string())?;
    let (found, all) = (routing.routed(), circuits.len());
    let of_one = |circuit: usize, why: &str| {
        let (src, dst) = pairs[circuit];
        format!("GPU {src} to GPU {dst}: {why}")
    };
    match routing.impossible {
        Some(Impossible::Cut(cut)) => return Err(format!("{cut}")),
        Some(Impossible::Lengths(lengths)) => return Err(format!("{lengths}")),
        Some(Impossible::Loss { circuit, least_db }) => {
            return Err(of_one(circuit, &format!("the best path loses {}", loss_reason(&placed.mesh, least_db))));
        }
        Some(Impossible::Exhausted) => {
            return Err("all combinations of paths were tried, and none serves all circuits".into());
        }
        None => {}
    }
    let lost = routing.routes.iter().enumerate().find_map(|(circuit, route)| match route {
        Err(Unrouted::FreePathLoses { loss_db }) => Some((circuit, *loss_db)),
        _ => None,
    });
    if let Some((circuit, loss_db)) = lost {
        let why = loss_reason(&placed.mesh, loss_db);
        return Err(of_one(circuit, &format!("the shortest path that other circuits leave free loses {why}")));
    }
    let routes: Vec<Route> = routing.routes.into_iter().flatten().collect();
    if routes.len() < all {
        return Err(format!("paths were found for {found} of {all} circuits"));
    }
    Ok(routes)
}

/// # Errors
/// Routes that cannot be lit at once, as the lasers of a tile or interposer launch more than its budget, in words.
fn within_budgets(placed: &Placed, routes: &[Route]) -> std::result::Result<(), String> {
    match over_budget(&placed.mesh, routes.iter()) {
        Some(over) => Err(over.to_string()),
        None => Ok(()),
    }
}

fn lit(placed: &Placed, ports: u32, connections: &[Connection], routes: &[Route]) -> Light {
    let mesh = &placed.mesh;
    let paths = connections.iter().zip(routes).map(|(&connection, route)| {
        let loss_db = mesh.passed(&route.cells).map_or(0.0, |passed| mesh.loss_db(passed));
        LightPath {
            connection,
            mzis: route.cells.clone(),
            waveguides: route.lanes.clone(),
            wavelength: route.wavelength,
            loss_db,
            launch_mw: mesh.settings().launch_power.map(|power| power.launch_mw(loss_db)),
            fibre_m: mesh.fibre_m(&route.cells),
        }
    });
    let port = |port: Port| match port {
        Port::Waveguide(Side::North, number) => MziPort::North(number),
        Port::Waveguide(Side::East, number) => MziPort::East(number),
        Port::Waveguide(Side::South, number) => MziPort::South(number),
        Port::Waveguide(Side::West, number) => MziPort::West(number),
        Port::Tile(number) => MziPort::Tile(number),
    };
    let ends = |one: &Connection| [one.ingress, one.egress].map(|port| (port - 1) % ports);
    let mut states: Vec<_> =
        connections.iter().zip(routes).flat_map(|(one, route)| states_of(mesh, route, ends(one))).collect();
    states.sort_unstable();
    let mzis = states.into_iter().map(|state| MziState {
        mzi: state.cell,
        wavelength: state.wavelength,
        input: port(state.input),
        output: port(state.output),
    });
    Light { paths: paths.collect(), mzis: mzis.collect() }
}
