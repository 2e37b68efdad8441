//! Ranks that are given from outside, such as the processes of a training job: they carry programs out together, over
//! memory that they share and circuits that are entries of it.
//!
//! ```text
//!  PlanProgram + circuits ─▶ Task: what this rank takes in every step ─▶ Member::execute
//!  Member: Control (who is there, circuits, the first fault) · a segment with all workspaces · messages
//! ```
//!
//! Nobody leads: the rank that comes last to a meeting does what is to be done between two steps, and changes the
//! circuits of the next one. A rank takes data from the memory of the rank before it on their path, and only where a
//! circuit leads from that one to it; ranks on the way keep what they pass on. Memory is passed on by the descriptors
//! of its makers, so that nothing is left when they end.

mod circuits;
mod control;
mod delivery;
mod execution;
mod meeting;
mod member;
mod messages;
mod peers;
mod segment;
mod task;

pub use execution::{Execution, StepCourse};
pub use member::Member;
pub use messages::{Arrived, Message};
pub use task::{Circuits, Task};
