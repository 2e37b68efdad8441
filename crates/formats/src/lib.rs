//! Text in, text out: plans and switch settings as JSON, schedules from MSCCL XML. Nothing here touches a file.
//!
//! Readers take outside data: they bound sizes before they allocate, never panic, and answer with one
//! line that names the place, such as `plan.steps[3].hops`.

mod circuits_json;
mod msccl;
mod one_line;
mod plan_json;

pub use circuits_json::{CIRCUITS_SCHEMA, circuits_from_json, circuits_to_json};
pub use msccl::schedule_from_msccl;
pub use plan_json::{SCHEMA, plan_from_json, plan_to_json};
