//! Everything that can be named.

use std::collections::BTreeMap;

use block_rounds::workloads;
use collectives::Options;
use model::{Collective, Overlap, Routing, Shape, TECHNOLOGIES, units};
use planners::Convention;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arguments::{optional_text, text};
use crate::input_error::CoreResult;

/// The properties of one named thing.
type Entry = BTreeMap<&'static str, String>;

fn entry<const N: usize>(fields: [(&'static str, &str); N]) -> Entry {
    fields.into_iter().map(|(key, value)| (key, value.to_string())).collect()
}

#[pyfunction]
pub fn registry() -> BTreeMap<&'static str, Vec<Entry>> {
    let algorithms = collectives::REGISTRY.iter().map(|a| {
        let collectives: Vec<&str> = a.collectives().iter().map(|collective| collective.name()).collect();
        entry([
            ("name", a.name()),
            ("summary", a.summary()),
            ("source", a.source()),
            ("requirement", a.requirement()),
            ("collectives", &collectives.join(", ")),
        ])
    });
    let topologies = topologies::REGISTRY.iter().map(|f| {
        entry([("name", f.name()), ("summary", f.summary()), ("source", f.source()), ("parameters", f.parameters())])
    });
    let candidates = topologies::candidates::REGISTRY
        .iter()
        .map(|f| entry([("name", f.name()), ("summary", f.summary()), ("source", f.source())]));
    let planners = planners::REGISTRY
        .iter()
        .map(|p| entry([("name", p.name()), ("summary", p.summary()), ("source", p.source())]));
    let technologies = TECHNOLOGIES.iter().map(|t| {
        entry([
            ("name", t.name),
            ("delay", &units::show_time(t.delay_s)),
            ("ports", &t.ports.map(|ports| ports.to_string()).unwrap_or_default()),
            ("product", t.product.unwrap_or_default()),
            ("source", t.source),
        ])
    });
    let workloads = workloads::REGISTRY
        .iter()
        .map(|w| entry([("name", w.name), ("parameters", w.parameters), ("summary", w.summary)]));
    let optics = optics::REGISTRY.iter().map(|k| {
        entry([("name", k.name()), ("parameters", k.parameters()), ("summary", k.summary()), ("source", k.source())])
    });
    BTreeMap::from([
        ("algorithms", algorithms.collect::<Vec<_>>()),
        ("topologies", topologies.collect()),
        ("candidates", candidates.collect()),
        ("planners", planners.collect()),
        (
            "collectives",
            Collective::ALL.iter().map(|c| entry([("name", c.name()), ("summary", c.summary())])).collect(),
        ),
        ("routings", Routing::ALL.iter().map(|r| entry([("name", r.name()), ("summary", r.summary())])).collect()),
        ("overlaps", Overlap::ALL.iter().map(|o| entry([("name", o.name()), ("summary", o.summary())])).collect()),
        ("conventions", Convention::ALL.iter().map(|c| entry([("name", c.name), ("summary", c.summary)])).collect()),
        ("technologies", technologies.collect()),
        ("workloads", workloads.collect()),
        ("optics", optics.collect()),
    ])
}

#[pyfunction]
pub fn capabilities(planner: &Bound<'_, PyAny>) -> CoreResult<Option<BTreeMap<&'static str, bool>>> {
    let name = text("planner", planner)?;
    if ["auto", lightloom::GIVEN].contains(&name.as_str()) {
        return Ok(None);
    }
    let found = planners::find(&name)?.capabilities();
    Ok(Some(BTreeMap::from([
        ("takes_budget", found.takes_budget),
        ("never_changes", found.never_changes),
        ("chooses_algorithm", found.chooses_algorithm),
        ("calls_solver", found.calls_solver),
        ("is_fast", found.is_fast()),
    ])))
}

/// The choices that a planner does not look at for the effort, in words.
#[pyfunction]
pub fn left_out(planner: &str, gpus: u32, ports: u32) -> CoreResult<Option<String>> {
    // Plans from files may have a planner that is not registered.
    let Ok(planner) = planners::find(planner) else { return Ok(None) };
    Ok(planner.left_out(&Shape::new(gpus, &[], ports)?))
}

#[pyfunction]
#[pyo3(signature = (collective, gpus, dims, ports, radix, aggregation = None))]
pub fn algorithm_table<'py>(
    py: Python<'py>,
    collective: Option<&Bound<'py, PyAny>>,
    gpus: u32,
    dims: Vec<u32>,
    ports: u32,
    radix: Option<u32>,
    aggregation: Option<u32>,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let (shape, wanted) =
        shape_and_collective(optional_text("collective", collective)?.as_deref(), gpus, &dims, ports)?;
    let options = Options { radix, aggregation, ..Options::default() };
    let mut rows = Vec::new();
    for algorithm in collectives::REGISTRY {
        for &collective in algorithm.collectives().iter().filter(|c| wanted.is_none_or(|wanted| wanted == **c)) {
            let built = algorithm.accepts(collective, &shape, &options).and_then(|()| {
                let extent = algorithm.extent(collective, &shape, &options);
                lightloom::check_extent(gpus, algorithm.name(), extent)?;
                algorithm.build(collective, &shape, &options)
            });
            let row = PyDict::new(py);
            row.set_item("algorithm", algorithm.name())?;
            row.set_item("collective", collective.name())?;
            row.set_item("accepted", built.is_ok())?;
            row.set_item("reason", built.as_ref().err().map(model::Error::reason).unwrap_or_default())?;
            row.set_item("steps", built.as_ref().ok().map(|schedule| schedule.steps().len()))?;
            row.set_item("sent_share", built.as_ref().ok().map(model::Schedule::sent_share))?;
            rows.push(row);
        }
    }
    Ok(rows)
}

/// Algorithms whose schedules have this many steps, none of which is built for it.
#[pyfunction]
pub fn algorithms_of_steps(
    collective: &Bound<'_, PyAny>,
    gpus: u32,
    dims: Vec<u32>,
    ports: u32,
    radix: Option<u32>,
    steps: u64,
) -> CoreResult<Vec<&'static str>> {
    let shape = Shape::new(gpus, &dims, ports)?;
    let collective = Collective::parse(&text("collective", collective)?)?;
    let options = Options { radix, ..Options::default() };
    let has_steps = |algorithm: &&&dyn collectives::Algorithm| {
        algorithm.accepts(collective, &shape, &options).is_ok()
            && algorithm.extent(collective, &shape, &options).steps == steps
    };
    Ok(collectives::REGISTRY.iter().filter(has_steps).map(|algorithm| algorithm.name()).collect())
}

#[pyfunction]
pub fn bus_factor(collective: &Bound<'_, PyAny>, gpus: u32) -> CoreResult<f64> {
    Ok(Collective::parse(&text("collective", collective)?)?.bus_factor(gpus))
}

/// By kind, such as `topologies`: names that planners give, which are printed and not taken, with their meanings.
#[pyfunction]
pub fn planners_names() -> BTreeMap<&'static str, Vec<(&'static str, &'static str)>> {
    BTreeMap::from([("algorithms", planners::algorithm_names()), ("topologies", planners::topology_names())])
}

fn shape_and_collective(
    collective: Option<&str>,
    gpus: u32,
    dims: &[u32],
    ports: u32,
) -> CoreResult<(Shape, Option<Collective>)> {
    Ok((Shape::new(gpus, dims, ports)?, collective.map(Collective::parse).transpose()?))
}
