//! `Topology`.

use model::{Shape, Topology};
use numpy::PyArray2;
use numpy::ndarray::Array2;
use pyo3::prelude::*;

use crate::input_error::CoreResult;
use crate::whole::Whole;

#[pyclass(name = "Topology", module = "lightloom._core", frozen)]
pub struct PyTopology(pub Topology);

#[pymethods]
impl PyTopology {
    #[staticmethod]
    fn named(spec: &str, gpus: Whole, dims: Vec<Whole>, ports: Whole) -> CoreResult<Self> {
        Ok(Self(topologies::build(spec, &Shape::new(gpus.0, &Whole::all(dims), ports.0)?)?))
    }

    #[staticmethod]
    fn from_links(name: &str, gpus: Whole, links: Vec<(Whole, Whole, Whole)>) -> CoreResult<Self> {
        let links: Vec<(u32, u32, u32)> = links.into_iter().map(|(src, dst, count)| (src.0, dst.0, count.0)).collect();
        Ok(Self(topologies::from_links(name, gpus.0, &links)?))
    }

    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    #[getter]
    fn gpus(&self) -> u32 {
        self.0.ranks()
    }

    #[getter]
    fn degree(&self) -> u32 {
        self.0.degree()
    }

    #[getter]
    fn links<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<u32>> {
        let links = self.0.expanded();
        let table = Array2::from_shape_fn((links.len(), 3), |(row, column)| {
            [links[row].src, links[row].dst, links[row].count][column]
        });
        PyArray2::from_owned_array(py, table)
    }

    #[getter]
    fn symmetry_order(&self) -> u32 {
        self.0.symmetry().order()
    }

    fn __repr__(&self) -> String {
        format!("Topology('{}', gpus={}, degree={})", self.0.name(), self.0.ranks(), self.0.degree())
    }
}

/// Where a topology is asked for: its specification, or itself.
#[derive(FromPyObject)]
pub enum NameOrTopology<'py> {
    #[pyo3(transparent)]
    Name(String),
    #[pyo3(transparent)]
    Topology(Bound<'py, PyTopology>),
}
