//! `Simulation`, `SimulatedStep`, the arrays that they give, and the verb that makes them.

use std::sync::Arc;

use ::simulate::{
    CircuitTotal, CircuitUse, CongestionControl, CongestionTotals, Forwarding, GpuTimes, Injection, Level,
    ReconfigurationScope, Settings, SimulatedStep, Simulation, Symmetry, Synchronisation,
};
use model::{Error, Plan, Shape};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::input_error::CoreResult;
use crate::interrupts::interruptible;
use crate::keywords::Keywords;
use crate::pickles::{DigitTuple, Packed, Reduced, digits, of_parts, packed, translations, unpacked};
use crate::plan::PyPlan;

/// End, packets, hops, payload and bytes on the wire; marked packets, notifications and decreases.
type TotalsTuple = ((u64, u64, u64, u64, u64), (u64, u64, u64));
/// Start, reconfiguration, startup and end; ranks and symmetry; circuits and GPUs; what the plan says.
type StepTuple = ((u64, u64, u64, u64), (u32, Vec<DigitTuple>), (Packed, Packed), (usize, String, bool, f64));

/// Femtoseconds in a second.
const SECOND_FS: f64 = 1e15;

#[pyclass(name = "Simulation", module = "lightloom._core", frozen)]
pub struct PySimulation(Arc<Simulated>);

/// The results, and the plan's statements about its steps.
struct Simulated {
    found: Simulation,
    planned: Vec<Planned>,
}

/// A plan's statements about a step.
struct Planned {
    topology: usize,
    topology_name: String,
    reconfigured: bool,
    total_s: f64,
}

/// A step: its place in what was simulated, and its index in the plan.
#[pyclass(name = "SimulatedStep", module = "lightloom._core", frozen)]
pub struct PySimulatedStep {
    simulated: Arc<Simulated>,
    place: usize,
    index: usize,
}

#[pyclass(name = "CircuitTotals", module = "lightloom._core", frozen)]
pub struct PyCircuitTotals(Vec<CircuitTotal>);

#[pyclass(name = "CircuitUses", module = "lightloom._core", frozen)]
pub struct PyCircuitUses(Vec<CircuitUse>);

#[pyclass(name = "GpuTimes", module = "lightloom._core", frozen)]
pub struct PyGpuTimes(Vec<GpuTimes>);

#[pymethods]
impl PySimulation {
    #[getter]
    fn total_s(&self) -> f64 {
        self.0.found.total_s()
    }

    #[getter]
    fn packets(&self) -> u64 {
        self.0.found.packets
    }

    #[getter]
    fn packet_hops(&self) -> u64 {
        self.0.found.packet_hops
    }

    #[getter]
    fn payload_bytes(&self) -> u64 {
        self.0.found.payload_bytes
    }

    #[getter]
    fn wire_bytes(&self) -> u64 {
        self.0.found.wire_bytes
    }

    #[getter]
    fn marked_packets(&self) -> u64 {
        self.0.found.congestion.marked_packets
    }

    #[getter]
    fn notifications(&self) -> u64 {
        self.0.found.congestion.notifications
    }

    #[getter]
    fn decreases(&self) -> u64 {
        self.0.found.congestion.decreases
    }

    #[getter]
    fn steps(&self) -> Vec<PySimulatedStep> {
        let steps = 0..self.0.found.steps.len();
        steps.map(|index| PySimulatedStep { simulated: Arc::clone(&self.0), place: index, index }).collect()
    }

    fn circuits(&self, py: Python<'_>) -> PyCircuitTotals {
        PyCircuitTotals(py.detach(|| self.0.found.circuits()))
    }

    #[staticmethod]
    fn _of_parts(totals: TotalsTuple, steps: Vec<StepTuple>) -> CoreResult<Self> {
        Ok(Self(Arc::new(simulated(totals, steps)?)))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py, (TotalsTuple, Vec<StepTuple>)>> {
        let steps = self.0.found.steps.iter().zip(&self.0.planned).map(|(found, planned)| step_tuple(found, planned));
        Ok((of_parts::<Self>(py)?, (totals_tuple(&self.0.found), steps.collect::<CoreResult<_>>()?)))
    }

    fn __repr__(&self) -> String {
        let Simulation { packets, steps, .. } = &self.0.found;
        format!("Simulation(total_s={:?}, steps={}, packets={packets})", self.0.found.total_s(), steps.len())
    }
}

impl PySimulatedStep {
    fn found(&self) -> &SimulatedStep {
        &self.simulated.found.steps[self.place]
    }

    fn planned(&self) -> &Planned {
        &self.simulated.planned[self.place]
    }
}

#[pymethods]
impl PySimulatedStep {
    #[getter]
    fn index(&self) -> usize {
        self.index
    }

    #[getter]
    fn topology_index(&self) -> usize {
        self.planned().topology
    }

    #[getter]
    fn topology_name(&self) -> &str {
        &self.planned().topology_name
    }

    #[getter]
    fn reconfigured(&self) -> bool {
        self.planned().reconfigured
    }

    #[getter]
    fn start_s(&self) -> f64 {
        seconds(self.found().start_fs)
    }

    #[getter]
    fn reconfiguration_s(&self) -> f64 {
        seconds(self.found().reconfiguration_fs)
    }

    #[getter]
    fn startup_s(&self) -> f64 {
        seconds(self.found().startup_fs)
    }

    #[getter]
    fn end_s(&self) -> f64 {
        seconds(self.found().end_fs)
    }

    #[getter]
    fn duration_s(&self) -> f64 {
        seconds(self.found().duration_fs())
    }

    #[getter]
    fn predicted_s(&self) -> f64 {
        self.planned().total_s
    }

    #[getter]
    fn symmetry_order(&self) -> u32 {
        self.found().symmetry.order()
    }

    #[pyo3(signature = (expanded=true))]
    fn circuits(&self, py: Python<'_>, expanded: bool) -> PyCircuitUses {
        let step = self.found();
        PyCircuitUses(py.detach(|| if expanded { step.expanded_circuits() } else { step.circuits.clone() }))
    }

    #[pyo3(signature = (expanded=true))]
    fn gpus(&self, py: Python<'_>, expanded: bool) -> PyGpuTimes {
        let step = self.found();
        PyGpuTimes(py.detach(|| if expanded { step.expanded_gpus() } else { step.gpus.clone() }))
    }

    #[staticmethod]
    fn _of_parts(index: usize, step: StepTuple) -> CoreResult<Self> {
        let simulated = Arc::new(simulated(TotalsTuple::default(), vec![step])?);
        Ok(Self { simulated, place: 0, index })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py, (usize, StepTuple)>> {
        Ok((of_parts::<Self>(py)?, (self.index, step_tuple(self.found(), self.planned())?)))
    }

    fn __repr__(&self) -> String {
        let (start_s, end_s) = (self.start_s(), self.end_s());
        format!("SimulatedStep({}, '{}', start_s={start_s:?}, end_s={end_s:?})", self.index, self.topology_name())
    }
}

/// Getters that give one number of every entry as a NumPy array.
macro_rules! columns {
    ($class:ty { $($name:ident: $number:ty = $of:expr,)* }) => {
        #[pymethods]
        impl $class {
            fn __len__(&self) -> usize {
                self.0.len()
            }

            #[staticmethod]
            fn _of_parts(packed: Vec<u8>) -> CoreResult<Self> {
                Ok(Self(unpacked(&packed)?))
            }

            fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py, (Packed,)>> {
                Ok((of_parts::<Self>(py)?, (packed(&self.0)?,)))
            }

            $(#[getter]
            fn $name<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<$number>> {
                PyArray1::from_iter(py, self.0.iter().map($of))
            })*
        }
    };
}

columns!(PyCircuitTotals {
    src: u32 = |circuit| circuit.src,
    dst: u32 = |circuit| circuit.dst,
    circuit: u32 = |circuit| circuit.circuit,
    bytes: u64 = |circuit| circuit.bytes,
    busy_s: f64 = |circuit| seconds(circuit.busy_fs),
    utilisation: f64 = |circuit| circuit.utilisation,
    queue_bytes: u64 = |circuit| circuit.queue_bytes,
});

columns!(PyCircuitUses {
    src: u32 = |circuit| circuit.src,
    dst: u32 = |circuit| circuit.dst,
    circuit: u32 = |circuit| circuit.circuit,
    bytes: u64 = |circuit| circuit.bytes,
    packets: u64 = |circuit| circuit.packets,
    first_s: f64 = |circuit| seconds(circuit.first_fs),
    last_s: f64 = |circuit| seconds(circuit.last_fs),
    busy_s: f64 = |circuit| seconds(circuit.busy_fs),
    queue_bytes: u64 = |circuit| circuit.queue_bytes,
});

columns!(PyGpuTimes {
    gpu: u32 = |times| times.gpu,
    ready_s: f64 = |times| seconds(times.ready_fs),
    first_send_s: f64 = |times| seconds_or_nan(times.first_send_fs),
    last_sent_s: f64 = |times| seconds_or_nan(times.last_sent_fs),
    last_received_s: f64 = |times| seconds_or_nan(times.last_received_fs),
});

/// `settings`: the fields of Python's `SimulationSettings`, each of its default where it is left out.
#[pyfunction]
#[pyo3(signature = (plan, **settings))]
pub fn simulate(py: Python<'_>, plan: &PyPlan, settings: Option<&Bound<'_, PyDict>>) -> PyResult<PySimulation> {
    let mut given = Keywords::new(settings)?;
    let settings = settings_of(&mut given)?;
    given.finish()?;
    Ok(simulated_by(py, plan, &settings)?)
}

/// The settings that keywords say, each of its default where it is left out.
///
/// # Errors
/// Values that are not accepted.
pub fn settings_of(given: &mut Keywords<'_>) -> CoreResult<Settings> {
    let default = Settings::default();
    Ok(Settings {
        level: given.choice("level", Level::parse)?,
        payload_bytes: given
            .value("packet_bytes")?
            .map_or(Ok(default.payload_bytes), |size| bytes("packet_size", size))?,
        header_bytes: given
            .value("header_bytes")?
            .map_or(Ok(default.header_bytes), |size| bytes("header_size", size))?,
        injection: given.choice("injection", Injection::parse)?,
        forwarding: given.choice("forwarding", Forwarding::parse)?,
        sync: given.choice("sync", Synchronisation::parse)?,
        barrier_s: given.value("barrier_s")?.unwrap_or(default.barrier_s),
        reconfiguration: given.choice("reconfiguration", ReconfigurationScope::parse)?,
        buffer_bytes: given.value("buffer_bytes")?,
        congestion_control: given.choice("congestion_control", CongestionControl::parse)?,
        symmetry: given.choice("symmetry", Symmetry::parse)?,
    })
}

fn simulated_by(py: Python<'_>, plan: &PyPlan, settings: &Settings) -> CoreResult<PySimulation> {
    let simulated = interruptible(py, || {
        let plan = plan.judged()?;
        Ok::<_, Error>(Simulated { found: ::simulate::simulate(plan, settings)?, planned: planned(plan) })
    })??;
    Ok(PySimulation(Arc::new(simulated)))
}

fn totals_tuple(found: &Simulation) -> TotalsTuple {
    let CongestionTotals { marked_packets, notifications, decreases } = found.congestion;
    let amounts = (found.total_fs, found.packets, found.packet_hops, found.payload_bytes, found.wire_bytes);
    (amounts, (marked_packets, notifications, decreases))
}

fn step_tuple(found: &SimulatedStep, planned: &Planned) -> CoreResult<StepTuple> {
    Ok((
        (found.start_fs, found.reconfiguration_fs, found.startup_fs, found.end_fs),
        (found.symmetry.ranks(), digits(&found.symmetry)),
        (packed(&found.circuits)?, packed(&found.gpus)?),
        (planned.topology, planned.topology_name.clone(), planned.reconfigured, planned.total_s),
    ))
}

/// The simulation made of its parts.
fn simulated(totals: TotalsTuple, steps: Vec<StepTuple>) -> CoreResult<Simulated> {
    let (amounts, (marked_packets, notifications, decreases)) = totals;
    let (total_fs, packets, packet_hops, payload_bytes, wire_bytes) = amounts;
    let congestion = CongestionTotals { marked_packets, notifications, decreases };
    let mut found =
        Simulation { total_fs, packets, packet_hops, payload_bytes, wire_bytes, congestion, steps: Vec::new() };
    let mut planned = Vec::new();
    for (times, (ranks, symmetry), (circuits, gpus), said) in steps {
        let (start_fs, reconfiguration_fs, startup_fs, end_fs) = times;
        let symmetry = translations(Shape::new(ranks, &[], 1)?.gpus(), symmetry)?;
        let (circuits, gpus) = (unpacked(&circuits.0)?, unpacked(&gpus.0)?);
        found.steps.push(SimulatedStep { start_fs, reconfiguration_fs, startup_fs, end_fs, symmetry, circuits, gpus });
        let (topology, topology_name, reconfigured, total_s) = said;
        planned.push(Planned { topology, topology_name, reconfigured, total_s });
    }
    Ok(Simulated { found, planned })
}

fn planned(plan: &Plan) -> Vec<Planned> {
    let of_step = |step: &model::PlanStep| Planned {
        topology: step.topology,
        topology_name: plan.topologies[step.topology].name().to_string(),
        reconfigured: step.reconfigured,
        total_s: step.cost.total_s(),
    };
    plan.steps.iter().map(of_step).collect()
}

/// The settings say which of 32 bits they accept.
fn bytes(field: &str, value: u64) -> CoreResult<u32> {
    Ok(u32::try_from(value).map_err(|_| Error::value(field, value, "at most 1 GiB"))?)
}

fn seconds(fs: u64) -> f64 {
    fs as f64 / SECOND_FS
}

fn seconds_or_nan(fs: Option<u64>) -> f64 {
    fs.map_or(f64::NAN, seconds)
}
