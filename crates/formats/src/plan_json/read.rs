//! Conversion of the JSON's shape to a plan: everything that types do not say is checked here.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::{
    Bound, Chunks, Collective, CostSettings, Digit, Electrical, Error, Fabric, Fault, Faults, Initial, Link, Op,
    OpticalLayer, Overlap, Piece, Plan, PlanParts, PlanStep, Positions, Propagation, ReconfigurationDelay,
    ReconfigurationOverlap, ReconfigurationPolicy, Result, RoutedEntry, RoutedPath, Routes, Routing, Shape, Step,
    StepCost, Topology, Transfer, Translations, Window, units,
};

use super::document::{ChunksText, FabricText, OpText, PlanText, RoutesText, StepText, SymmetryText, TopologyText};
use super::runs::Run;
use crate::rates;

/// Chunks that all transfers of a plan may name together.
const MAX_NAMED_CHUNKS: usize = 1 << 26;
/// Links that representatives of a topology may stand for.
const MAX_LINKS: u64 = 1 << 24;
/// Names are shown in tables.
const MAX_NAME: usize = 500;
/// Largest relative distance of a stated total from the sum of the terms: others add in other orders.
const TOTAL_TOLERANCE: f64 = 1e-12;

pub(super) fn plan(text: PlanText) -> Result<Plan> {
    if text.fabric.dims.is_empty() {
        return Err(Error::malformed("plan.fabric.dims", "it is an empty list; it takes the size of each dimension"));
    }
    let shape = Shape::new(text.gpus, &text.fabric.dims, text.fabric.ports).map_err(at("plan.fabric"))?;
    let (rates, bandwidth_bps) = text.fabric.bandwidth_bps.read("plan.fabric.bandwidth_bps", text.fabric.ports)?;
    let shape = match text.fabric_gpus {
        Some(gpus) => shape.among(gpus, text.ranks).map_err(|error| {
            let field = format!("plan.{}", error.field());
            error.in_field(&field)
        })?,
        None if text.ranks.is_empty() => shape,
        None => return Err(Error::malformed("plan", "missing field `fabric_gpus`")),
    };
    let of_all = (bandwidth_bps, text.fabric.hop_delay_s);
    let pairs = rates::of_pairs(text.fabric.pair_rates.as_deref(), text.gpus, of_all)?;
    let shape = shape.with_rates(rates).with_pairs(pairs).map_err(at("plan.fabric.pair_rates"))?;
    if text.forwarding_gpus >= text.gpus || (text.forwarding_gpus > 0 && shape.subset().is_none()) {
        let reason = format!("it is {}; it must be fewer than the {} GPUs", text.forwarding_gpus, text.gpus);
        return Err(Error::malformed("plan.forwarding_gpus", reason));
    }
    if text.forwarding_gpus > 0 && shape.fabric_gpus() != text.gpus {
        let reason = format!("it is {}; where other GPUs forward it is {}", shape.fabric_gpus(), text.gpus);
        return Err(Error::malformed("plan.fabric_gpus", reason));
    }
    let collective = Collective::parse(&text.collective).map_err(at("plan.collective"))?;
    units::size_in_range("plan.size_bytes", text.size_bytes)?;
    let bound = bound(("plan.lower_bound_s", text.lower_bound_s), ("plan.bound_class", text.bound_class))?;
    let narrow_bound = match (text.narrow_lower_bound_s, text.narrow_bound_class) {
        (None, None) => None,
        (Some(seconds), Some(class)) => {
            Some(self::bound(("plan.narrow_lower_bound_s", seconds), ("plan.narrow_bound_class", class))?)
        }
        (Some(_), None) => return Err(Error::malformed("plan", "missing field `narrow_bound_class`")),
        (None, Some(_)) => return Err(Error::malformed("plan", "missing field `narrow_lower_bound_s`")),
    };
    let chunks = chunks(collective, text.gpus - text.forwarding_gpus, text.chunks)?;
    let chunks = chunks.with_forwarding(text.forwarding_gpus);
    let mut topologies = Vec::with_capacity(text.topologies.len());
    for (id, topology_text) in text.topologies.into_iter().enumerate() {
        topologies.push(topology(id, &shape, topology_text)?);
    }
    let initial = initial(&text.fabric, text.initial_topology, &topologies)?;
    let fabric = fabric(&text.fabric, (shape, bandwidth_bps), initial)?;
    let mut steps = Vec::with_capacity(text.steps.len());
    let mut budget = MAX_NAMED_CHUNKS;
    for (index, step_text) in text.steps.into_iter().enumerate() {
        steps.push(step(index, step_text, &chunks, &mut budget)?);
    }
    let plan = Plan::new(PlanParts {
        algorithm: name("plan.algorithm", text.algorithm)?,
        planner: name("plan.planner", text.planner)?,
        size_bytes: text.size_bytes,
        fabric,
        settings: CostSettings {
            routing: Routing::parse(&text.routing).map_err(at("plan.routing"))?,
            propagation: Propagation::parse(&text.propagation).map_err(at("plan.propagation"))?,
            overlap: Overlap::parse(&text.overlap).map_err(at("plan.overlap"))?,
        },
        chunks,
        topologies,
        steps,
        bound,
        narrow_bound,
    })
    .map_err(at("plan"))?;
    let (stated, sum) = (text.total_s, plan.total_s());
    if !(sum.is_finite() && (stated - sum).abs() <= TOTAL_TOLERANCE * sum) {
        return Err(Error::malformed(
            "plan.total_s",
            format!("it is {stated}, and the terms of the steps add up to {sum}"),
        ));
    }
    if let Some(stated) = text.repeated_s {
        let sum = plan.repeated_s();
        if !(sum.is_finite() && (stated - sum).abs() <= TOTAL_TOLERANCE * sum) {
            let reason = format!("it is {stated}, and the repeated plan takes {sum}");
            return Err(Error::malformed("plan.repeated_s", reason));
        }
    }
    if text.reconfigurations != plan.reconfigurations() {
        let (stated, marked) = (text.reconfigurations, plan.reconfigurations());
        return Err(Error::malformed(
            "plan.reconfigurations",
            format!("it is {stated}, and {marked} steps are marked as reconfigured"),
        ));
    }
    Ok(plan)
}

/// Puts the place before an error that does not name it already.
fn at(place: impl Into<String>) -> impl FnOnce(Error) -> Error {
    let place = place.into();
    move |error| if error.field().starts_with("plan.") { error } else { Error::malformed(place, error) }
}

fn bound((field, seconds): (&str, f64), (class_field, class): (&str, String)) -> Result<Bound> {
    if !(seconds.is_finite() && seconds >= 0.0) {
        return Err(Error::value(field, seconds, "a finite time of at least zero"));
    }
    Ok(Bound { seconds, class: name(class_field, class)? })
}

/// A name as it may be shown: some text, of one line.
fn name(field: &str, text: String) -> Result<String> {
    if text.is_empty() || text.len() > MAX_NAME || text.chars().any(char::is_control) {
        return Err(Error::malformed(field, format!("it must be one line of 1 to {MAX_NAME} bytes")));
    }
    Ok(text)
}

fn chunks(collective: Collective, ranks: u32, text: ChunksText) -> Result<Chunks> {
    let field = "plan.chunks";
    let pairwise = collective == Collective::AllToAll;
    let fits = match &text {
        ChunksText::Owned { .. } => !pairwise && !collective.has_root(),
        ChunksText::Rooted { .. } => matches!(collective, Collective::Gather | Collective::Scatter),
        ChunksText::Pairs { .. } | ChunksText::Pieces { .. } => pairwise,
        ChunksText::Buffer { .. } => true,
    };
    if !fits {
        return Err(Error::malformed(field, format!("chunks of this kind do not go with {}", collective.name())));
    }
    match text {
        ChunksText::Owned { parts } | ChunksText::Pairs { parts } => Chunks::even(collective, ranks, parts),
        ChunksText::Buffer { root, parts } => Chunks::buffer(collective, ranks, root, parts),
        ChunksText::Rooted { root, parts } => Chunks::rooted(collective, ranks, root, parts),
        ChunksText::Pieces { pieces } => {
            Chunks::pieces(ranks, pieces.into_iter().map(|(src, dst, share)| Piece { src, dst, share }).collect())
        }
    }
    .map_err(at(field))
}

fn symmetry(ranks: u32, text: SymmetryText, field: &str) -> Result<Translations> {
    let digits = text.into_iter().map(|(stride, radix)| Digit { stride, radix }).collect();
    Translations::new(ranks, digits).map_err(at(field))
}

fn topology(id: usize, shape: &Shape, text: TopologyText) -> Result<Topology> {
    let ranks = shape.gpus();
    let field = format!("plan.topologies[{id}]");
    if text.id != id {
        return Err(Error::malformed(format!("{field}.id"), format!("it is {}; ids count from 0", text.id)));
    }
    let group = symmetry(ranks, text.symmetry, &format!("{field}.symmetry"))?;
    let name = name(&format!("{field}.name"), text.name)?;
    let sorted = |links: Vec<(u32, u32, u32)>, key: &str| -> Result<Vec<Link>> {
        let links: Vec<Link> = links.into_iter().map(|(src, dst, count)| Link { src, dst, count }).collect();
        if links.is_sorted_by_key(|link| (link.src, link.dst)) {
            return Ok(links);
        }
        Err(Error::malformed(format!("{field}.{key}"), "links must be sorted by source, then destination"))
    };
    let by_rate = |topology: Topology, links: &[Link]| {
        let ends: Vec<(u32, u32)> = links.iter().map(|link| (link.src, link.dst)).collect();
        rates::on_ports(topology, &ends, text.circuits_by_rate.as_deref(), (shape, &field))
    };
    match (text.links, text.representatives) {
        (Some(links), None) => {
            let links = sorted(links, "links")?;
            // Ranks are checked by the first constructor, before any of them is translated.
            let written_out = Topology::new(name.clone(), Translations::trivial(ranks), links.iter().copied())
                .map_err(at(format!("{field}.links")))?;
            let representatives = links.iter().copied().filter(|link| group.canonical(link.src).1 == 0);
            let topology = Topology::new(name, group.clone(), representatives).map_err(at(format!("{field}.links")))?;
            if topology.expanded() == written_out.links() && written_out.links() == links {
                return by_rate(topology, &links);
            }
            let reason = "there must be one link for each pair, and the topology's symmetry must take links to links";
            Err(Error::malformed(format!("{field}.links"), reason))
        }
        (None, Some(links)) => {
            let place = format!("{field}.representatives");
            let links = sorted(links, "representatives")?;
            if links.len() as u64 * u64::from(group.order()) > MAX_LINKS {
                return Err(Error::malformed(
                    place,
                    format!("the representatives stand for more than {MAX_LINKS} links"),
                ));
            }
            let topology = Topology::new(name, group, links.iter().copied()).map_err(at(place.clone()))?;
            if topology.links() == links {
                return by_rate(topology, &links);
            }
            Err(Error::malformed(
                place,
                "there must be one link for each orbit of pairs, from the first source of the orbit",
            ))
        }
        (None, None) => Err(Error::malformed(field, "missing field `links`")),
        (Some(_), Some(_)) => Err(Error::malformed(field, "it has both `links` and `representatives`")),
    }
}

fn initial(text: &FabricText, index: Option<usize>, topologies: &[Topology]) -> Result<Initial> {
    let Some(index) = index else {
        return match text.initial.as_str() {
            "free" => Ok(Initial::Free),
            "repeated" => Ok(Initial::Repeated),
            _ => Err(Error::malformed(
                "plan.initial_topology",
                "it is null, and fabric.initial is neither `free` nor `repeated`",
            )),
        };
    };
    match topologies.get(index) {
        None => Err(Error::malformed(
            "plan.initial_topology",
            format!("{index} is not one of the {} topologies", topologies.len()),
        )),
        Some(topology) if topology.name() != text.initial => Err(Error::malformed(
            "plan.fabric.initial",
            format!("it is not `{}`, the name of topology {index}", topology.name()),
        )),
        Some(topology) => Ok(Initial::Topology(topology.clone())),
    }
}

fn fabric(text: &FabricText, (shape, bandwidth_bps): (Shape, f64), initial: Initial) -> Result<Fabric> {
    let steps: BTreeMap<usize, f64> = text.windows_s.iter().copied().collect();
    if steps.len() < text.windows_s.len() {
        return Err(Error::malformed("plan.fabric.windows_s", "it names a step twice"));
    }
    let window = Window { every_s: text.window_s, steps };
    let overlap = ReconfigurationOverlap { background: text.background_reconfiguration, window };
    let (fixed_s, per_port_s) = (text.reconfiguration_delay_s, text.reconfiguration_delay_per_port_s);
    let delay = match &text.reconfiguration_delays_by_port_s[..] {
        [] => ReconfigurationDelay::per_port(fixed_s, per_port_s),
        by_port_s if per_port_s == 0.0 => ReconfigurationDelay::of_switches(fixed_s, by_port_s.to_vec()),
        _ => {
            let field = "plan.fabric.reconfiguration_delay_per_port_s";
            return Err(Error::malformed(
                field,
                format!("it is {per_port_s}; it must be 0 where each port has a delay of its own"),
            ));
        }
    };
    let failed = || text.failed.iter().map(|fault| fault.parse::<Fault>()).collect::<Result<Faults>>();
    let positions = text.positions.as_deref().map(|text| Positions::parse("positions", text).map(Arc::new));
    let shape = positions.transpose().and_then(|positions| shape.at_positions(positions)).map_err(at("plan.fabric"))?;
    let fabric = Fabric {
        shape: failed().and_then(|failed| shape.with_faults(failed)).map_err(at("plan.fabric.failed"))?,
        bandwidth_bps,
        startup_s: text.startup_s,
        barrier_s: text.barrier_s,
        hop_delay_s: text.hop_delay_s,
        reconfiguration: ReconfigurationPolicy::new(delay, overlap),
        initial,
        optics: text.optics.as_deref().map(OpticalLayer::new).transpose().map_err(at("plan.fabric"))?,
        electrical: text.electrical.as_ref().map(|it| Electrical {
            gpus: it.gpus,
            bandwidth_bps: it.bandwidth_bps,
            hop_delay_s: it.hop_delay_s,
        }),
    };
    fabric.check().map_err(at("plan.fabric"))?;
    Ok(fabric)
}

fn step(index: usize, text: StepText, chunks: &Chunks, budget: &mut usize) -> Result<PlanStep> {
    let field = |name: &str| format!("plan.steps[{index}].{name}");
    if text.index != index {
        return Err(Error::malformed(field("index"), format!("it is {}; steps count from 0", text.index)));
    }
    let ranks = chunks.ranks();
    let group = symmetry(ranks, text.symmetry, &field("symmetry"))?;
    let mut transfers = Vec::with_capacity(text.transfers.len());
    for (at, (src, dst, op, runs)) in text.transfers.into_iter().enumerate() {
        let place = field(&format!("transfers[{at}]"));
        let op = match op {
            OpText::Copy => Op::Copy,
            OpText::Reduce => Op::Reduce,
        };
        let chunks = Run::expand(&runs, chunks.count(), budget, &place)?;
        transfers.push(Transfer { src, dst, op, chunks });
    }
    Ok(PlanStep {
        step: Step::new(group, transfers, chunks).map_err(at(field("transfers")))?,
        topology: text.topology,
        reconfigured: text.reconfigured,
        transfer_bytes: text.transfer_bytes,
        hops: text.hops,
        load: text.load,
        electrical_load: text.electrical_load,
        routes: routes(text.routes, ranks, &field("routes"))?,
        cost: StepCost {
            startup_s: text.startup_s,
            propagation_s: text.propagation_s,
            transmission_s: text.transmission_s,
            reconfiguration_s: text.reconfiguration_s,
            barrier_s: text.barrier_s,
        },
    })
}

fn routes(text: RoutesText, ranks: u32, field: &str) -> Result<Routes> {
    let symmetry = symmetry(ranks, text.symmetry, &format!("{field}.symmetry"))?;
    let mut arcs = Vec::with_capacity(text.arcs.len());
    for (at, (src, dst, paths)) in text.arcs.into_iter().enumerate() {
        let nodes = paths.iter().flat_map(|(_, nodes)| nodes);
        if let Some(node) = [&src, &dst].into_iter().chain(nodes).find(|&&node| node >= ranks) {
            return Err(Error::malformed(format!("{field}.arcs[{at}]"), format!("there is no GPU {node}")));
        }
        let paths = paths.into_iter().map(|(share, nodes)| RoutedPath { share, nodes }).collect();
        arcs.push(RoutedEntry { src, dst, paths });
    }
    Ok(Routes { symmetry, arcs })
}
