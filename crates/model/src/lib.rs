//! Pure types of Lightloom. Nothing here decides anything: algorithms build [`Schedule`]s, families
//! build [`Topology`]s, planners join the two into a [`Plan`], judges read the plan. Every other
//! crate imports this one and this one imports none.
//!
//! ```text
//! Collective ─▶ Schedule ─┐
//!                         ├─▶ Plan
//! Fabric ─▶ Topology ─────┘
//! ```

mod barrier;
mod binary_digits;
mod breadth_first;
mod by_class;
mod chunks;
mod circuit_rates;
mod circuits;
mod circulant;
mod collective;
mod connection;
mod cost;
mod counts;
mod cutoffs;
mod digit;
mod electrical;
mod error;
mod fabric;
mod faults;
mod fibre_lengths;
mod latest;
mod launch_power;
mod light;
mod mzi_mesh;
mod names;
mod on_ports;
mod optical_layer;
mod pair_rates;
mod plan;
mod port_rates;
mod positions;
pub mod ranges;
mod reconfiguration;
mod routes;
mod schedule;
mod shape;
mod topology;
mod traffic;
mod training_plan;
mod translations;
pub mod units;
mod working_ports;
mod workload;
mod written_out;

pub use barrier::Barrier;
pub use breadth_first::{BreadthFirst, UNREACHABLE};
pub use chunks::{Chunks, Piece};
pub use circuits::{Circuits, Configuration, ConfigurationEvents, MAX_SWITCH_PORTS, Switch, SwitchSetting};
pub use circulant::show_generators;
pub use collective::Collective;
pub use connection::Connection;
pub use cost::{CostSettings, HopDelays, Overlap, Propagation, Routing, StepCost, sum_seconds};
pub use counts::counted;
pub use digit::Digit;
pub use electrical::Electrical;
pub use error::{Error, Result, unknown_name};
pub use fabric::{Fabric, Initial};
pub use faults::{FAULT_FORMS, Fault, Faults};
pub use fibre_lengths::{FibreDelay, FibreLengths, check_interposer_order};
pub use latest::Latest;
pub use launch_power::{LaserEnergy, LaunchPower};
pub use light::{Light, LightPath, MziPort, MziState};
pub use mzi_mesh::MziMesh;
pub use names::value_named;
pub use optical_layer::{IslandCircuits, Islands, OpticalLayer, Shared};
pub use pair_rates::{PairClasses, PairRates};
pub use plan::{Bound, Plan, PlanParts, PlanStep};
pub use port_rates::{PortRates, RateClass};
pub use positions::Positions;
pub use reconfiguration::{
    ChargeKind, Compared, DelayTerms, Difference, LinkChange, PortAssignment, Reconfiguration, ReconfigurationDelay,
    ReconfigurationOverlap, ReconfigurationPolicy, TECHNOLOGIES, Technology, Window,
};
pub use routes::{RoutedEntry, RoutedPath, Routes};
pub use schedule::{Op, Schedule, Step, Transfer};
pub use shape::{MAX_GPUS, MAX_PORTS, Shape};
pub use topology::{Link, SetUp, Topology};
pub use traffic::{Traffic, TrafficEntry};
pub use training_plan::{MessageTopology, TrainingEvent, TrainingPlan};
pub use translations::Translations;
pub use working_ports::WorkingPorts;
pub use workload::{
    Axis, ByteMatrix, Inference, MAX_NODES, MatrixUse, NamedMatrix, Over, RankGroup, Ranks, Work, Workload,
    WorkloadNode, WorkloadParts,
};
pub use written_out::{SentPath, SentTransfer, paths_of, transfers_of};

/// Index of a GPU in the collective, `0..gpus`.
pub type Rank = u32;
