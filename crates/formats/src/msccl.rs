//! stub
use model::{Result, Schedule};
/// stub
pub fn schedule_from_msccl(_xml: &str) -> Result<Schedule> {
    Err(model::Error::malformed("schedule", "stub"))
}
