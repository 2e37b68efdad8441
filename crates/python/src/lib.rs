//! Python binding: converts arguments and results, releases the GIL, maps errors. No logic.
//!
//! The interface is documented in `python/lightloom/_core.pyi`, which type checkers read.
#![allow(missing_docs, reason = "the interface is documented in _core.pyi")]

mod all_to_all;
mod arguments;
mod barriers;
mod better;
mod bound;
mod checks;
mod circuits;
mod comparison;
mod fabric;
mod fibres;
#[cfg(target_os = "linux")]
mod gate;
mod input_error;
mod interrupts;
#[cfg(target_os = "linux")]
mod job;
mod keywords;
mod mesh;
mod option_values;
mod options;
mod parallel;
mod pickles;
mod plan;
mod plan_data;
mod problem;
mod program;
mod reconfiguration_delay;
mod registry;
mod repair;
mod request;
mod running;
mod sampling;
mod schedule;
mod series;
mod simulation;
mod step;
mod topology;
mod training;
mod two_level;
mod units;
mod workload;

use pyo3::prelude::*;

/// `lightloom._core`.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::all_to_all::{all_to_all_lines, shift_hops};
    #[pymodule_export]
    use super::barriers::{barrier_rounds, barriers};
    #[pymodule_export]
    use super::better::{PyBetter, plan, plan_with_same_bits};
    #[pymodule_export]
    use super::bound::{PyStatement, bound};
    #[pymodule_export]
    use super::circuits::{PyCircuits, circuits, iteration_circuits, verify_circuits, verify_iteration_circuits};
    #[pymodule_export]
    use super::comparison::{baselines, compare};
    #[pymodule_export]
    use super::fabric::{PyFabric, PyFabricOptions};
    #[pymodule_export]
    use super::fibres::{check_fibres, route_fibres};
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use super::gate::{PyGate, PyGateRank};
    #[pymodule_export]
    use super::interrupts::{PyInterruption, heed};
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use super::job::{PyMember, PyTask};
    #[pymodule_export]
    use super::mesh::{PyMesh, fibre_lengths, placed_mesh};
    #[pymodule_export]
    use super::option_values::{read_bytes, read_rate, read_time};
    #[pymodule_export]
    use super::options::{names_topology_file, planning_options, rank_list, split_names};
    #[pymodule_export]
    use super::parallel::limit_threads;
    #[pymodule_export]
    use super::plan::{PyPlan, plan_on, proved_plan, verify_plan};
    #[pymodule_export]
    use super::problem::{PyProblem, profile};
    #[pymodule_export]
    use super::program::{PyProgram, program};
    #[pymodule_export]
    use super::reconfiguration_delay::PyReconfigurationDelay;
    #[pymodule_export]
    use super::registry::{
        algorithm_table, algorithms_of_steps, bus_factor, capabilities, left_out, planners_names, registry,
    };
    #[pymodule_export]
    use super::repair::repair;
    #[pymodule_export]
    use super::request::{PyCache, PyRequest};
    #[pymodule_export]
    use super::running::{change_times, free_memory, run_report, run_request, serve_runs};
    #[pymodule_export]
    use super::sampling::{plans_by, sample};
    #[pymodule_export]
    use super::schedule::{PySchedule, verify_schedule};
    #[pymodule_export]
    use super::series::PySeries;
    #[pymodule_export]
    use super::simulation::{PyCircuitTotals, PyCircuitUses, PyGpuTimes, PySimulatedStep, PySimulation, simulate};
    #[pymodule_export]
    use super::topology::PyTopology;
    #[pymodule_export]
    use super::training::{PyTrainingPlan, PyWorkload, train, training_policies, verify_training};
    #[pymodule_export]
    use super::two_level::fast_on_servers;
    #[pymodule_export]
    use super::units::{
        check_rate, check_size, check_time, counted, parse_rate, parse_size, parse_time, ranges, show_size, show_time,
        whole_ranges,
    };
    #[pymodule_export]
    use super::workload::{is_workload, workload_matrix};
    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::parallel::watch_forks(module)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
