//! What was measured; moments in nanoseconds since their run began, dilated.

use serde::{Deserialize, Serialize};

/// What a rank says of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RankTimes {
    /// It was let go, and woke.
    pub released_ns: u64,
    /// Startup and computation were over.
    pub started_ns: u64,
    /// All that it sends and forwards had left it.
    pub sent_ns: u64,
    /// All that it receives and forwards had come.
    pub received_ns: u64,
    /// What it received was copied and reduced.
    pub arrived_ns: u64,
    /// Bytes that it passed on for others.
    pub forwarded_bytes: u64,
}

/// What a step took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StepTimes {
    /// The step before had ended.
    pub begun_ns: u64,
    /// A change of circuits was asked for, and acknowledged; both as `begun_ns` where there is none.
    pub asked_ns: u64,
    /// See `asked_ns`.
    pub acknowledged_ns: u64,
    /// Startup began.
    pub start_ns: u64,
    /// The last rank had arrived.
    pub end_ns: u64,
}

/// What crossed a circuit in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CircuitUse {
    /// Bytes without headers.
    pub bytes: u64,
    /// Its first packet began to be sent.
    pub first_ns: u64,
    /// Its last packet was received.
    pub last_ns: u64,
}

/// One run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Run {
    /// From the first step's begin to the last one's end, without windows.
    pub measured_ns: u64,
    /// By step.
    pub steps: Vec<StepTimes>,
    /// By step and rank.
    pub ranks: Vec<RankTimes>,
    /// By step and number of transmitter.
    pub circuits: Vec<CircuitUse>,
}

/// By how much sleeps ended too late, not dilated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Lateness {
    /// Sleeps.
    pub sleeps: u64,
    /// Half of them were at most so late.
    pub median_ns: u64,
    /// Of a hundred, 99 were at most so late.
    pub most_of_99_ns: u64,
    /// The latest.
    pub most_ns: u64,
}

/// What the system gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Granted {
    /// All processes have real-time priority.
    pub real_time: bool,
    /// All processes have their memory locked.
    pub locked: bool,
}

/// What a run of runs found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Report {
    /// Those that were measured.
    pub runs: Vec<Run>,
    /// Of the probe before the runs, on all ranks.
    pub probe: Lateness,
    /// Of the switch while runs were measured.
    pub switch: Lateness,
    /// Of the ranks while runs were measured.
    pub ranks: Lateness,
    /// What was granted.
    pub granted: Granted,
}
