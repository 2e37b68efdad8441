//! The head of a datagram before the header of its packet: whence it comes, and which it is.

use crate::wire::{HEADER_BYTES, Header};

/// Bytes before a packet's data.
pub const ENVELOPE_BYTES: usize = 16 + HEADER_BYTES;

/// The head of a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Envelope {
    /// Number of the port that sent it.
    pub transmitter: u32,
    /// Number of the packet among those that the port has sent in its step, from 0.
    pub sequence: u64,
    /// Header of the packet.
    pub header: Header,
}

impl Envelope {
    /// The envelope as bytes.
    pub fn encode(&self) -> [u8; ENVELOPE_BYTES] {
        let mut bytes = [0; ENVELOPE_BYTES];
        bytes[..8].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.transmitter.to_le_bytes());
        bytes[16..].copy_from_slice(&self.header.encode());
        bytes
    }

    /// The envelope at the head of a datagram; `None` where the bytes are not a packet.
    pub fn decode(datagram: &[u8]) -> Option<Self> {
        let sequence = u64::from_le_bytes(*datagram.first_chunk()?);
        let transmitter = u32::from_le_bytes(*datagram.get(8..)?.first_chunk()?);
        let header = Header::decode(datagram.get(16..)?.first_chunk()?);
        (datagram.len() == ENVELOPE_BYTES + header.size as usize).then_some(Self { transmitter, sequence, header })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_what_is_cut_is_not() {
        let header = Header { message: 1, hop: 2, offset: 3 << 33, size: 5, step: 6, sent_ns: u64::MAX };
        let envelope = Envelope { transmitter: 7, sequence: u64::MAX - 1, header };
        let mut datagram = envelope.encode().to_vec();
        datagram.extend([0; 5]);
        assert_eq!(Envelope::decode(&datagram), Some(envelope));
        for len in 0..datagram.len() {
            assert_eq!(Envelope::decode(&datagram[..len]), None);
        }
    }
}
