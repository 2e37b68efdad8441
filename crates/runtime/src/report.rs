//! Measurements; moments in nanoseconds since their run began, dilated.

use serde::{Deserialize, Serialize};

/// A rank's times of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RankTimes {
    /// The rank was released by the barrier, and woke.
    pub released_ns: u64,
    /// Startup and computation were over.
    pub started_ns: u64,
    /// All that the rank sends and forwards had left it.
    pub sent_ns: u64,
    /// All that the rank receives and forwards had arrived.
    pub received_ns: u64,
    /// The data that the rank received was copied and reduced.
    pub arrived_ns: u64,
    /// Bytes that it passed on for others.
    pub forwarded_bytes: u64,
}

/// The times of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StepTimes {
    /// The time at which the steps before had ended.
    pub begun_ns: u64,
    /// The time at which the last change of circuits that it needs was asked for; `begun_ns` if it needs none.
    pub asked_ns: u64,
    /// The time at which that change was acknowledged; `begun_ns` if there is none.
    pub acknowledged_ns: u64,
    /// Startup began.
    pub start_ns: u64,
    /// The last rank had arrived.
    pub end_ns: u64,
}

/// The times of a change of circuits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ChangeTimes {
    /// The change was asked for.
    pub asked_ns: u64,
    /// The switch acknowledged it.
    pub acknowledged_ns: u64,
}

/// The traffic over a circuit in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CircuitUse {
    /// Bytes without headers.
    pub bytes: u64,
    /// The first packet of the circuit began to be sent.
    pub first_ns: u64,
    /// The last packet of the circuit was received.
    pub last_ns: u64,
}

/// One run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Run {
    /// Time from the beginning of the run to the end of its last step, without windows.
    pub measured_ns: u64,
    /// Times of each step.
    pub steps: Vec<StepTimes>,
    /// Times of each change of circuits.
    pub changes: Vec<ChangeTimes>,
    /// Times of each rank, step by step; zero where it takes no part.
    pub ranks: Vec<RankTimes>,
    /// Use of the circuit of each transmitter, step by step.
    pub circuits: Vec<CircuitUse>,
}

/// By how much sleeps ended too late, not dilated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Lateness {
    /// Sleeps.
    pub sleeps: u64,
    /// Lateness that half of them did not exceed.
    pub median_ns: u64,
    /// Lateness that 99 of 100 did not exceed.
    pub most_of_99_ns: u64,
    /// The latest.
    pub most_ns: u64,
}

/// The privileges that the system gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Granted {
    /// All processes have real-time priority.
    pub real_time: bool,
    /// All processes have their memory locked.
    pub locked: bool,
}

/// The results of a run of runs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Report {
    /// The runs that were measured.
    pub runs: Vec<Run>,
    /// Lateness of the probe before the runs, on all ranks.
    pub probe: Lateness,
    /// Lateness of the switch while runs were measured.
    pub switch: Lateness,
    /// Lateness of the ranks while runs were measured.
    pub ranks: Lateness,
    /// The privileges that were granted.
    pub granted: Granted,
}
