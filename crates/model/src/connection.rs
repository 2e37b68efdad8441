//! Two ports of a switch that are joined.

/// A circuit inside a switch: light that comes in at one port goes out at another. Ports are numbered from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Connection {
    /// Port at which light comes in, where a transmitter is.
    pub ingress: u32,
    /// Port at which it goes out, where a receiver is.
    pub egress: u32,
}
