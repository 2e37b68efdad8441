//! A tuner plugin for NCCL, of its interface 5 (NVIDIA/nccl, src/include/plugin/tuner/tuner_v5.h): for every call of a
//! collective NCCL asks it, and it names the algorithm that is the fastest on the topology that is up, by the times that
//! `lightloom export --to nccl-tuner` wrote.
//!
//! `NCCL_TUNER_PLUGIN` names this library, `LIGHTLOOM_TUNER_TABLE` the table, and `LIGHTLOOM_TUNER_TOPOLOGY` the topology
//! that is up, where that is not the table's first. All three are the same at all ranks.

mod choice;
mod cutoffs;
mod names;
mod plugin;
mod table;

pub use choice::{Choice, choose};
pub use table::{Row, Table};
