//! `Topology`.

use model::{Error, Link, Shape, Topology};
use numpy::PyArray2;
use numpy::ndarray::Array2;
use pyo3::prelude::*;

use crate::arguments::{self, text, whole, wholes};
use crate::input_error::CoreResult;
use crate::interrupts::interruptible;
use crate::pickles::{DigitTuple, Reduced, digits, of_parts, translations};

/// Name, GPUs, symmetry, and source, destination and circuits of each representative.
type TopologyTuple = (String, u32, Vec<DigitTuple>, Vec<(u32, u32, u32)>);

#[pyclass(name = "Topology", module = "lightloom._core", frozen)]
pub struct PyTopology(pub Topology);

#[pymethods]
impl PyTopology {
    #[staticmethod]
    fn named(
        spec: &Bound<'_, PyAny>,
        gpus: &Bound<'_, PyAny>,
        dims: &Bound<'_, PyAny>,
        ports: &Bound<'_, PyAny>,
    ) -> CoreResult<Self> {
        let shape = Shape::new(whole("gpus", gpus)?, &wholes("dims", dims)?, whole("ports", ports)?)?;
        let named = text("topology", spec)?;
        Ok(Self(interruptible(spec.py(), || topologies::build(&named, &shape))??))
    }

    #[staticmethod]
    fn from_links(name: &Bound<'_, PyAny>, gpus: &Bound<'_, PyAny>, links: &Bound<'_, PyAny>) -> CoreResult<Self> {
        let accepts = "a list of links: source and destination, below the number of GPUs, and circuits, at least one";
        let links = links.extract::<Vec<(u32, u32, u32)>>();
        let links = links.map_err(|_| Error::value("links", "what was given", accepts))?;
        let name = arguments::name("name", name)?;
        Ok(Self(topologies::from_links(&name, whole("gpus", gpus)?, &links)?))
    }

    /// The function of `__reduce__`: representatives of the links, and the digits of the symmetry.
    #[staticmethod]
    fn _of_parts(
        name: &Bound<'_, PyAny>,
        gpus: u32,
        symmetry: Vec<DigitTuple>,
        links: Vec<(u32, u32, u32)>,
    ) -> CoreResult<Self> {
        let group = translations(Shape::new(gpus, &[], 1)?.gpus(), symmetry)?;
        let links = links.into_iter().map(|(src, dst, count)| Link { src, dst, count });
        Ok(Self(Topology::new(arguments::name("name", name)?, group, links)?))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py, TopologyTuple>> {
        let links = self.0.links().iter().map(|link| (link.src, link.dst, link.count)).collect();
        let parts = (self.0.name().to_string(), self.0.ranks(), digits(self.0.symmetry()), links);
        Ok((of_parts::<Self>(py)?, parts))
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
    fn explanation(&self, py: Python<'_>) -> String {
        py.detach(|| topologies::Explanation::of(&self.0).to_string())
    }

    #[getter]
    fn symmetry_order(&self) -> u32 {
        self.0.symmetry().order()
    }

    fn __repr__(&self) -> String {
        format!("Topology('{}', gpus={}, degree={})", self.0.name(), self.0.ranks(), self.0.degree())
    }
}
