//! The header of a packet.

/// Bytes of a header.
pub const HEADER_BYTES: usize = 32;

/// The header of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Index of its message.
    pub message: u32,
    /// Place on the path of the rank that sent it last.
    pub hop: u32,
    /// Offset of its first byte in the message.
    pub offset: u64,
    /// Bytes that follow.
    pub size: u32,
    /// Index of its step.
    pub step: u32,
    /// Nanoseconds of the clock at which it was sent last.
    pub sent_ns: u64,
}

impl Header {
    /// The header as bytes.
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..4].copy_from_slice(&self.message.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.hop.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.offset.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.size.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.step.to_le_bytes());
        bytes[24..].copy_from_slice(&self.sent_ns.to_le_bytes());
        bytes
    }

    /// The header that these bytes are.
    pub fn decode(bytes: &[u8; HEADER_BYTES]) -> Self {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        Self { message: word(0), hop: word(4), offset: long(8), size: word(16), step: word(20), sent_ns: long(24) }
    }
}
