//! Text in, text out: plans, switch settings, workloads and training iterations as JSON, schedules from MSCCL XML.
//! Nothing here touches a file.
//!
//! Readers take outside data: they bound sizes before they allocate, never panic, and answer with one
//! line that names the place, such as `plan.steps[3].hops`.

mod circuits_json;
mod cutoffs;
mod json_errors;
mod msccl;
mod one_line;
mod ordered_object;
mod plan_json;
mod rates;
mod training_json;
mod workload_json;

pub use circuits_json::{CIRCUITS_SCHEMA, circuits_from_json, circuits_to_json};
pub use msccl::schedule_from_msccl;
pub use ordered_object::Ordered;
pub use plan_json::{SCHEMA, plan_from_json, plan_to_json};
pub use training_json::{TRAINING_SCHEMA, training_from_json, training_to_json};
pub use workload_json::{WORKLOAD_SCHEMA, workload_from_json, workload_to_json};
