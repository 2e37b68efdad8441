//! The transport of a rank's packets to the fabric and from it.

use crate::board::Board;
use crate::ring::span;
use crate::wire::Header;

/// The carrier of a rank's packets; it has ports, from 0, each with a circuit or without.
pub trait Transport {
    /// A step begins; no packet of the one before is on its way.
    fn begin_step(&mut self) {}

    /// Nanoseconds by which the first of this many bytes, which leave by one port, arrive sooner than the rate allows:
    /// a rank begins to send later by that time.
    fn head_start_ns(&self, _bytes: u64) -> u64 {
        0
    }

    /// Called before looking for work: what comes later ends the next `wait` at once.
    fn look(&mut self);

    /// Hands a packet over; no where there is no room for it now.
    ///
    /// # Errors
    /// The fault, in words.
    fn send(&mut self, port: u32, header: &Header, payload: &[u8]) -> Result<bool, String>;

    /// The next packet that came to a port, if there is one; what follows the header replaces `payload`.
    ///
    /// # Errors
    /// The fault, in words.
    fn receive(&mut self, port: u32, payload: &mut Vec<u8>) -> Result<Option<Header>, String>;

    /// Packets that were handed over may go, and those that were received are done with.
    fn flush(&mut self);

    /// Sleeps until something came, or there is room, since `look`, or a moment of the clock has come.
    fn wait(&mut self, until_ns: Option<u64>);
}

/// Rings to and from the switch process.
#[derive(Debug)]
pub struct SharedMemory<'a> {
    board: &'a Board,
    rank: usize,
    ports: usize,
    seen: u32,
    /// Whether the switch has something to look at.
    is_new: bool,
}

impl<'a> SharedMemory<'a> {
    /// The transport of a rank.
    pub fn new(board: &'a Board, rank: usize, ports: usize) -> Self {
        Self { board, rank, ports, seen: 0, is_new: false }
    }
}

impl Transport for SharedMemory<'_> {
    fn look(&mut self) {
        self.seen = self.board.bell(self.rank).seen();
    }

    fn send(&mut self, port: u32, header: &Header, payload: &[u8]) -> Result<bool, String> {
        let ring = self.board.outbound(self.rank * self.ports + port as usize);
        let mut has_room = ring.push(header, payload);
        if !has_room {
            ring.starve();
            has_room = ring.push(header, payload);
        }
        self.is_new |= has_room;
        Ok(has_room)
    }

    fn receive(&mut self, port: u32, payload: &mut Vec<u8>) -> Result<Option<Header>, String> {
        let ring = self.board.inbound(self.rank * self.ports + port as usize);
        let position = ring.tail();
        let Some(header) = ring.header(position) else { return Ok(None) };
        payload.resize(header.size as usize, 0);
        ring.payload(position, payload);
        ring.free(position + span(payload.len()));
        self.is_new |= ring.relieve();
        Ok(Some(header))
    }

    fn flush(&mut self) {
        if std::mem::take(&mut self.is_new) {
            self.board.switch_bell().ring();
        }
    }

    fn wait(&mut self, until_ns: Option<u64>) {
        self.board.bell(self.rank).wait(self.seen, until_ns);
    }
}
