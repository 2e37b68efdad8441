//! A packet, as the engines see it.

/// Size of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Packet {
    /// Payload and header, bytes.
    pub(crate) bytes: u64,
    /// Time on a circuit, fs.
    pub(crate) wire_fs: u64,
}
