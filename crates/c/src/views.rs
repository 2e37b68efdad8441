//! Structures for C: views of a plan, and options of a fabric. Pointers in a view lead into the plan that was asked,
//! and hold until it is freed.

use std::ffi::c_char;

/// An option of a fabric: texts that end with a zero, read only during the call.
#[repr(C)]
pub struct LightloomOption {
    /// Name of an option, such as `reconfiguration-delay`.
    pub name: *const c_char,
    /// Value as text, such as `10us`.
    pub value: *const c_char,
}

/// Properties and cost of a plan. Times are in seconds, sizes in bytes.
#[repr(C)]
pub struct LightloomSummary {
    /// Name of the collective, such as `all-reduce`.
    pub collective: *const c_char,
    /// Name of the algorithm whose steps these are.
    pub algorithm: *const c_char,
    /// Name of the planner that chose the topologies.
    pub planner: *const c_char,
    /// The schedules that none of takes less than `lower_bound_s`, in words.
    pub bound_class: *const c_char,
    /// Bytes of one rank's whole buffer, as NCCL's tests count them.
    pub size_bytes: u64,
    /// Time of the collective: the sum of the terms over the steps.
    pub total_s: f64,
    /// No schedule of `bound_class` takes less.
    pub lower_bound_s: f64,
    /// GPUs, which are ranks 0 to `gpus` - 1.
    pub gpus: u32,
    /// Circuits out of and into one GPU.
    pub ports: u32,
    /// Number of steps.
    pub steps: u32,
    /// Number of topologies.
    pub topologies: u32,
    /// Steps before which circuits change.
    pub reconfigurations: u32,
    /// Number of chunks.
    pub chunks: u32,
    /// Index of the topology that must be there before step 0; -1 where the plan may start on any.
    pub initial_topology: i64,
}

/// One step of a plan. Its transfers may all start together, once the step before has ended and circuits are up.
#[repr(C)]
pub struct LightloomStep {
    /// Index of the topology that is in force.
    pub topology: u32,
    /// Whether circuits change before the step.
    pub reconfigured: bool,
    /// GPUs on the longest path, less one.
    pub hops: u32,
    /// Bytes on the busiest link over `transfer_bytes`.
    pub load: f64,
    /// Bytes of the largest transfer.
    pub transfer_bytes: f64,
    /// Time to start the step.
    pub startup_s: f64,
    /// Delay of the hops.
    pub propagation_s: f64,
    /// Time that the bytes take on the busiest link.
    pub transmission_s: f64,
    /// Charge for the change of circuits before the step.
    pub reconfiguration_s: f64,
    /// Barrier of all GPUs before the step.
    pub barrier_s: f64,
    /// Number of transfers.
    pub transfers: u64,
    /// Number of paths.
    pub paths: u64,
}

/// Parallel circuits from one GPU to another.
#[repr(C)]
pub struct LightloomCircuit {
    /// GPU that sends.
    pub source: u32,
    /// GPU that receives.
    pub destination: u32,
    /// Number of parallel circuits, at least 1.
    pub count: u32,
}

/// All circuits that are up during a step, which `lightloom_plan_circuit` has one by one.
#[repr(C)]
pub struct LightloomTopology {
    /// Name, such as `ring`.
    pub name: *const c_char,
    /// Pairs of GPUs that circuits join.
    pub circuits: u64,
}

/// Operation of a receiver on a chunk.
#[repr(C)]
#[derive(Clone, Copy)]
pub enum LightloomOperation {
    /// The receiver keeps the chunk in place of its own.
    Copy = 0,
    /// The receiver adds the chunk to its own.
    Reduce = 1,
}

/// Chunks that go from one rank to another in a step.
#[repr(C)]
pub struct LightloomTransfer {
    /// Rank that sends.
    pub source: u32,
    /// Rank that receives.
    pub destination: u32,
    /// Operation of the receiver on them.
    pub operation: LightloomOperation,
    /// Bytes of all of them.
    pub bytes: f64,
    /// Indices of the chunks, ascending.
    pub chunks: *const u32,
    /// Number of `chunks`.
    pub chunk_count: usize,
}

/// A path of the bytes that a rank sends to another in a step.
#[repr(C)]
pub struct LightloomPath {
    /// Rank that sends.
    pub source: u32,
    /// Rank that receives.
    pub destination: u32,
    /// Part of all that the one sends to the other which goes this way; those of a pair add up to 1.
    pub share: f64,
    /// Bytes that go this way.
    pub bytes: f64,
    /// GPUs on the way, the sender first, the receiver last.
    pub gpus: *const u32,
    /// Number of `gpus`.
    pub gpu_count: usize,
}

/// A chunk of the data.
#[repr(C)]
pub struct LightloomChunk {
    /// The rank that holds it before the first step; -1 where every rank does, each its own contribution to a sum.
    pub source: i64,
    /// The rank that must hold it after the last step; -1 where every rank must.
    pub destination: i64,
    /// Size of the chunk, bytes.
    pub bytes: f64,
}
