//! `Circuits`, and the function that puts a plan's circuits on ports.

use model::{Circuits, Connection, LaserEnergy, LightPath, MziPort, SwitchSetting};
use numpy::ndarray::Array2;
use numpy::{PyArray1, PyArray2};
use optics::Optics;
use pyo3::prelude::*;

use crate::arguments::{optional_text, text};
use crate::checks::{CheckTuple, checks};
use crate::input_error::CoreResult;
use crate::interrupts::interruptible;
use crate::pickles::Reduced;
use crate::plan::PyPlan;
use crate::training::PyTrainingPlan;

/// Pairs of ingress and egress port: all pairs, the new ones, and those that are disconnected; then the wavelengths of
/// all pairs.
type SettingTuple<'py> =
    (Bound<'py, PyArray2<u32>>, Bound<'py, PyArray2<u32>>, Bound<'py, PyArray2<u32>>, Bound<'py, PyArray1<u32>>);
/// Events of an iteration after which a configuration is set, those that need it, and from which step of their plans.
type EventsTuple = (Vec<String>, Vec<String>, Vec<usize>);
/// Index of the topology, steps, seconds, events, and what each switch does.
type ConfigurationTuple<'py> = (usize, Vec<usize>, f64, Option<EventsTuple>, Vec<SettingTuple<'py>>);

/// Ports, MZIs, waveguides between them, wavelength, dB, mW, metres of fibre.
type PathTuple = ((u32, u32), Vec<u32>, Vec<u32>, u32, f64, Option<f64>, Option<f64>);
/// MZI, wavelength, and where light enters and leaves it.
type StateTuple = (u32, u32, (&'static str, u32), (&'static str, u32));
/// See [`PyCircuits::energy`].
type EnergyTuple = (Vec<f64>, f64, f64, f64, f64);
type LightTuple = (Vec<PathTuple>, Vec<StateTuple>);

#[pyclass(name = "Circuits", module = "lightloom._core", frozen)]
pub struct PyCircuits(pub Circuits);

#[pymethods]
impl PyCircuits {
    #[staticmethod]
    fn from_json(py: Python<'_>, text: &Bound<'_, PyAny>) -> CoreResult<Self> {
        let text = crate::arguments::text("circuits", text)?;
        Ok(Self(interruptible(py, || formats::circuits_from_json(&text))??))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py, (String,)>> {
        Ok((py.get_type::<Self>().getattr("from_json")?, (self.to_json(py),)))
    }

    fn to_json(&self, py: Python<'_>) -> String {
        py.detach(|| formats::circuits_to_json(&self.0))
    }

    #[getter]
    fn switches(&self) -> Vec<(&str, u32)> {
        self.0.switches().iter().map(|switch| (switch.name.as_str(), switch.ports)).collect()
    }

    /// Per configuration the circuits' ways and the MZIs' states; empty where no mesh is the switch.
    #[getter]
    fn light(&self) -> Vec<LightTuple> {
        let port = |port: MziPort| match port {
            MziPort::North(number) => ("north", number),
            MziPort::East(number) => ("east", number),
            MziPort::South(number) => ("south", number),
            MziPort::West(number) => ("west", number),
            MziPort::Tile(number) => ("tile", number),
        };
        let told = self.0.light().iter().map(|light| {
            let paths = light.paths.iter().map(|path| {
                let LightPath { connection, mzis, waveguides, wavelength, loss_db, launch_mw, fibre_m } = path.clone();
                ((connection.ingress, connection.egress), mzis, waveguides, wavelength, loss_db, launch_mw, fibre_m)
            });
            let mzis = light.mzis.iter().map(|one| (one.mzi, one.wavelength, port(one.input), port(one.output)));
            (paths.collect(), mzis.collect())
        });
        told.collect()
    }

    /// Joules of each step, of all changes, of all steps; bits that GPUs send, and picojoules for each.
    #[getter]
    fn energy(&self) -> Option<EnergyTuple> {
        let LaserEnergy { steps_j, changes_j, total_j, sent_bits, picojoules_per_bit } = self.0.energy()?.clone();
        Some((steps_j, changes_j, total_j, sent_bits, picojoules_per_bit))
    }

    /// Seconds of each step, and of all, that light is in fibres.
    #[getter]
    fn fibre_delay(&self) -> Option<(Vec<f64>, f64)> {
        self.0.fibre_delay().map(|delay| (delay.steps_s.clone(), delay.total_s))
    }

    #[getter]
    fn configurations<'py>(&self, py: Python<'py>) -> Vec<ConfigurationTuple<'py>> {
        let told = self.0.configurations().iter().map(|configuration| {
            let settings = configuration.switches.iter().map(|setting| {
                let SwitchSetting { connections, connect, disconnect, wavelengths } = setting;
                let wavelengths = PyArray1::from_slice(py, wavelengths);
                (pairs(py, connections), pairs(py, connect), pairs(py, disconnect), wavelengths)
            });
            let events = configuration.events.clone().map(|events| (events.after, events.before, events.steps));
            (configuration.topology, configuration.steps.clone(), configuration.time_s, events, settings.collect())
        });
        told.collect()
    }
}

/// Circuits; least connections to set up, and seconds charged; how optics and the numbering are called, and what is at
/// every port.
type AssignedTuple = (PyCircuits, (u64, f64), (String, &'static str), Vec<Vec<String>>);

#[pyfunction]
pub fn circuits(
    py: Python<'_>,
    plan: &PyPlan,
    kind: &Bound<'_, PyAny>,
    names: Vec<String>,
    switch_ports: Option<u32>,
) -> CoreResult<AssignedTuple> {
    let optics = described(kind, names, switch_ports)?;
    let (assigned, ends) = interruptible(py, || {
        let plan = plan.judged()?;
        Ok::<_, model::Error>((optics::circuits(plan, &optics)?, optics.port_map(&plan.fabric.shape)?.ends))
    })??;
    let told = (optics.spelling(), optics.numbering());
    let judged = (assigned.least_connects, assigned.charged_s);
    Ok((PyCircuits(assigned.circuits), judged, told, ends))
}

/// Circuits of an iteration; how optics and the numbering are called, and what is at every port.
type IterationTuple = (PyCircuits, (String, &'static str), Vec<Vec<String>>);

#[pyfunction]
pub fn iteration_circuits(
    py: Python<'_>,
    training: &PyTrainingPlan,
    kind: &Bound<'_, PyAny>,
    names: Vec<String>,
    switch_ports: Option<u32>,
) -> CoreResult<IterationTuple> {
    let optics = described(kind, names, switch_ports)?;
    let training = &training.0;
    let (circuits, map) = interruptible(py, || {
        Ok::<_, model::Error>((
            optics::iteration_circuits(training, &optics)?,
            optics.port_map(&training.fabric.shape)?,
        ))
    })??;
    Ok((PyCircuits(circuits), (optics.spelling(), optics.numbering()), map.ends))
}

fn described(kind: &Bound<'_, PyAny>, names: Vec<String>, switch_ports: Option<u32>) -> CoreResult<Optics> {
    let optics = Optics::parse(&text("optics", kind)?)?.with_names(names);
    Ok(match switch_ports {
        Some(ports) => optics.with_switch_ports(ports),
        None => optics,
    })
}

#[pyfunction]
pub fn verify_iteration_circuits(
    py: Python<'_>,
    circuits: &PyCircuits,
    training: &PyTrainingPlan,
    optics: Option<&Bound<'_, PyAny>>,
) -> CoreResult<Vec<CheckTuple>> {
    let optics = optional_text("optics", optics)?;
    let report = interruptible(py, || verify::iteration_circuits(&circuits.0, &training.0, optics.as_deref()))??;
    Ok(checks(&report))
}

#[pyfunction]
pub fn verify_circuits(
    py: Python<'_>,
    circuits: &PyCircuits,
    plan: &PyPlan,
    optics: Option<&Bound<'_, PyAny>>,
) -> CoreResult<Vec<CheckTuple>> {
    let optics = optional_text("optics", optics)?;
    Ok(checks(&interruptible(py, || verify::circuits(&circuits.0, plan.judged()?, optics.as_deref()))??))
}

fn pairs<'py>(py: Python<'py>, connections: &[Connection]) -> Bound<'py, PyArray2<u32>> {
    let ports = connections.iter().flat_map(|one| [one.ingress, one.egress]).collect();
    let pairs = Array2::from_shape_vec((connections.len(), 2), ports);
    // Two ports a connection, by the line above.
    PyArray2::from_owned_array(py, pairs.unwrap_or_default())
}
