//! Packets from one process to another, in order: a ring in shared memory with one producer and one consumer.
//!
//! Positions count bytes since the ring was made. The producer owns the bytes from the consumer's position to its own
//! from one round before; a position is moved by a release after the bytes are written or read.

use std::sync::atomic::Ordering;

use crate::system::Shared;
use crate::wire::{HEADER_BYTES, Header};

// Each position has a line of the cache of its own.
const HEAD: usize = 0;
const TAIL: usize = 64;
const STARVED: usize = 128;
const DATA: usize = 192;

/// A view of a ring; every process has its own.
#[derive(Debug, Clone, Copy)]
pub struct Ring<'a> {
    memory: &'a Shared,
    base: usize,
    capacity: usize,
}

/// Bytes that a packet takes in a ring.
pub fn span(size: usize) -> u64 {
    (HEADER_BYTES + size).next_multiple_of(8) as u64
}

/// Bytes of shared memory of a ring that holds `capacity` bytes of packets.
pub fn footprint(capacity: usize) -> usize {
    DATA + capacity.next_multiple_of(64)
}

impl<'a> Ring<'a> {
    /// The ring at an offset that is a multiple of 64.
    pub fn new(memory: &'a Shared, base: usize, capacity: usize) -> Self {
        Self { memory, base, capacity: capacity.next_multiple_of(64) }
    }

    /// The place where the next packet will begin.
    pub fn head(&self) -> u64 {
        self.memory.long(self.base + HEAD).load(Ordering::Acquire)
    }

    /// The place where the first packet begins that was not freed.
    pub fn tail(&self) -> u64 {
        self.memory.long(self.base + TAIL).load(Ordering::Acquire)
    }

    /// Adds a packet, if there is room; by the producer.
    pub fn push(&self, header: &Header, payload: &[u8]) -> bool {
        let head = self.head();
        let span = span(payload.len());
        if head + span - self.tail() > self.capacity as u64 {
            return false;
        }
        self.write(head, &header.encode());
        self.write(head + HEADER_BYTES as u64, payload);
        self.memory.long(self.base + HEAD).store(head + span, Ordering::Release);
        true
    }

    /// The header of the packet that begins there, if there is one; by the consumer.
    pub fn header(&self, position: u64) -> Option<Header> {
        if position == self.head() {
            return None;
        }
        let mut bytes = [0; HEADER_BYTES];
        self.read(position, &mut bytes);
        Some(Header::decode(&bytes))
    }

    /// The bytes that follow the header of the packet that begins there; by the consumer.
    pub fn payload(&self, position: u64, into: &mut [u8]) {
        self.read(position + HEADER_BYTES as u64, into);
    }

    /// Gives the room of all packets before a position back; by the consumer.
    pub fn free(&self, position: u64) {
        self.memory.long(self.base + TAIL).store(position, Ordering::SeqCst);
    }

    /// Says that the producer waits for room; it looks for room once more before it waits.
    pub fn starve(&self) {
        self.memory.word(self.base + STARVED).store(1, Ordering::SeqCst);
    }

    /// Whether the producer waits for room; asked by the consumer after `free`, and said once.
    pub fn relieve(&self) -> bool {
        let word = self.memory.word(self.base + STARVED);
        word.load(Ordering::SeqCst) != 0 && word.swap(0, Ordering::SeqCst) != 0
    }

    fn write(&self, position: u64, bytes: &[u8]) {
        let at = (position % self.capacity as u64) as usize;
        let (first, rest) = bytes.split_at(bytes.len().min(self.capacity - at));
        self.memory.write(self.base + DATA + at, first);
        self.memory.write(self.base + DATA, rest);
    }

    fn read(&self, position: u64, into: &mut [u8]) {
        let at = (position % self.capacity as u64) as usize;
        let here = into.len().min(self.capacity - at);
        let (first, rest) = into.split_at_mut(here);
        self.memory.read(self.base + DATA + at, first);
        self.memory.read(self.base + DATA, rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::file_in_memory;

    fn packet(number: u32, size: usize) -> (Header, Vec<u8>) {
        let header = Header { message: number, hop: 1, offset: 7, size: size as u32, step: 3, sent_ns: u64::MAX - 5 };
        (header, (0..size).map(|byte| (byte as u32 + number) as u8).collect())
    }

    #[test]
    fn packets_come_out_as_they_went_in() {
        let len = footprint(320);
        let memory = Shared::map(file_in_memory("ring", len as u64).unwrap(), len).unwrap();
        let ring = Ring::new(&memory, 0, 320);
        let mut position = 0;
        let mut next = 0;
        for number in 0..200 {
            let (header, payload) = packet(number, number as usize % 100);
            while !ring.push(&header, &payload) {
                ring.starve();
                assert!(ring.relieve() && !ring.relieve());
                let (wanted, bytes) = packet(next, next as usize % 100);
                assert_eq!(ring.header(position), Some(wanted));
                let mut read = vec![0; bytes.len()];
                ring.payload(position, &mut read);
                assert_eq!(read, bytes);
                position += span(bytes.len());
                ring.free(position);
                next += 1;
            }
        }
        assert!(next > 190);
    }

    #[test]
    fn an_empty_ring_has_no_packet_and_a_full_one_no_room() {
        let len = footprint(64);
        let memory = Shared::map(file_in_memory("ring", len as u64).unwrap(), len).unwrap();
        let ring = Ring::new(&memory, 0, 64);
        assert_eq!(ring.header(0), None);
        let (header, payload) = packet(1, 32);
        assert!(ring.push(&header, &payload));
        assert!(!ring.push(&header, &[]));
        ring.free(span(32));
        assert_eq!(ring.header(span(32)), None);
        assert!(ring.push(&header, &[]));
    }
}
