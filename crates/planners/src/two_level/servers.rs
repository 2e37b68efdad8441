//! Servers with an electrical network inside, and what FAST sends over their circuits.

/// Rates and delays of servers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ServerNetwork {
    /// GPUs of a server, m: ranks s·m to s·m + m − 1 are those of server s.
    pub server_gpus: u32,
    /// Bytes per second out of, and into, a GPU within its server; any pattern of peers has them.
    pub electrical_bytes_per_s: f64,
    /// Seconds of a phase within servers in addition to its bytes.
    pub electrical_step_s: f64,
    /// Bytes per second over all circuits of a GPU, which lead to one peer in a stage.
    pub optical_bytes_per_s: f64,
    /// Seconds of a stage in addition to its bytes.
    pub optical_step_s: f64,
    /// Seconds of a change of circuits. Every stage has circuits of its own, the first one included.
    pub reconfiguration_s: f64,
}

/// Bytes of one pair of GPUs of different servers, on the one way that they take:
/// `src` → `sender` (electrical) → `receiver` (circuit) → `dst` (electrical); neighbours may be the same GPU.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parcel {
    /// The GPU whose bytes they are.
    pub src: u32,
    /// The GPU of its server whose circuit they take.
    pub sender: u32,
    /// The GPU at the other end of the circuit.
    pub receiver: u32,
    /// The GPU that they are for.
    pub dst: u32,
    /// How many.
    pub bytes: f64,
}

/// A matching of servers and what is sent over it.
#[derive(Debug, Clone, PartialEq)]
pub struct Stage {
    /// (server, the server that it sends to).
    pub pairs: Vec<(u32, u32)>,
    /// The blocks that are sent.
    pub parcels: Vec<Parcel>,
    /// Seconds that circuits take, their change included.
    pub optical_s: f64,
    /// Seconds that the electrical network takes meanwhile, for the balancing of the next stage and the redistribution
    /// of the one before.
    pub electrical_s: f64,
}

/// The All-to-All of a matrix by FAST on servers.
#[derive(Debug, Clone, PartialEq)]
pub struct FastOnServers {
    /// The stages, the longest first.
    pub stages: Vec<Stage>,
    /// Seconds before the first stage sends: its balancing, or the change of its circuits where that is longer.
    pub before_s: f64,
    /// Seconds of the redistribution after the last stage.
    pub after_s: f64,
    /// Seconds of bytes within servers that do not fit into what the pipeline leaves free of the electrical network.
    pub inside_s: f64,
    /// Seconds of all.
    pub total_s: f64,
    /// No All-to-All that keeps bytes within a server inside it, and whose first circuits are charged, takes less: the
    /// busiest server's circuits, or the busiest GPU's bytes within its server.
    pub bound_s: f64,
}
