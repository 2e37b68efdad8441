//! Text in, text out: plans as JSON, schedules from MSCCL XML. Nothing here touches a file.
//!
//! Readers take outside data: they bound sizes before they allocate, never panic, and answer with one
//! line that names the place, such as `plan.steps[3].hops`.

mod msccl;
mod plan_json;

pub use msccl::schedule_from_msccl;
pub use plan_json::{SCHEMA, plan_from_json, plan_to_json};
