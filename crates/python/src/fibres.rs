//! Circuits between servers on fibres.

use optics::fibres::{Fibre, Servers, check, route};
use optics::{Circuit, Grid};
use pyo3::prelude::*;

use crate::arguments::text;
use crate::input_error::CoreResult;
use crate::interrupts::interruptible;

/// Paths, circuits on the busiest edge, the bound, why it holds, passes.
type FibreTuple = (Vec<Vec<u32>>, u32, u32, String, u32);

#[pyfunction]
pub fn route_fibres(
    py: Python<'_>,
    servers: &Bound<'_, PyAny>,
    both_ways: bool,
    existing: Vec<(u32, u32, u32)>,
    circuits: Vec<(u32, u32)>,
    seed: u64,
) -> CoreResult<FibreTuple> {
    let grid = Grid::parse("servers", &text("servers", servers)?)?;
    let servers = Servers::new(grid, fibre(both_ways), &existing)?;
    let routing = interruptible(py, || route(&servers, &circuits_of(&circuits), seed))??;
    Ok((routing.paths, routing.fibres, routing.bound.circuits, routing.bound.reason, routing.passes))
}

#[pyfunction]
pub fn check_fibres(
    servers: &Bound<'_, PyAny>,
    both_ways: bool,
    existing: Vec<(u32, u32, u32)>,
    circuits: Vec<(u32, u32)>,
    paths: Vec<Vec<u32>>,
) -> CoreResult<u32> {
    let grid = Grid::parse("servers", &text("servers", servers)?)?;
    Ok(check(grid, fibre(both_ways), &existing, &circuits_of(&circuits), &paths)?)
}

fn fibre(both_ways: bool) -> Fibre {
    if both_ways { Fibre::BothWays } else { Fibre::OneWay }
}

fn circuits_of(pairs: &[(u32, u32)]) -> Vec<Circuit> {
    pairs.iter().map(|&(source, destination)| Circuit { source, destination }).collect()
}
