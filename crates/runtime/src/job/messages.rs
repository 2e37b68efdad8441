//! Messages from one rank to another, which no other rank takes part in: tags tell them apart, rings carry them.
//!
//! A ring is made by the rank that writes to it, when it sends its first message. Both ends move all their messages on,
//! whenever one of them is looked at, so that none waits for another.

use std::collections::{BTreeMap, VecDeque};

use rustix::fd::{AsFd, OwnedFd};

use crate::cutoffs::job::MESSAGE_RING;
use crate::ring::footprint;
use crate::system::Shared;

/// Something that is asked of the messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// Send these bytes to a rank.
    Send(u32, u32, Vec<u8>),
    /// Receive a message of a tag, from a rank or from any.
    Receive(Option<u32>, u32),
}

/// A message that was sent, or came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrived {
    /// The number under which it was asked for.
    pub number: u64,
    /// The other rank.
    pub peer: u32,
    /// What came; nothing where it was sent.
    pub bytes: Vec<u8>,
}

/// A message on its way out.
#[derive(Debug)]
pub struct Leaving {
    pub number: u64,
    pub tag: u32,
    pub bytes: Vec<u8>,
    /// Bytes that have left, and whether its beginning has.
    pub left: usize,
    pub has_begun: bool,
    /// The position in the ring behind its last byte so far.
    pub ends: u64,
}

/// A ring to or from another rank.
#[derive(Debug)]
pub struct Line {
    pub memory: Shared,
    /// Of the rank that made it, which keeps it open.
    #[allow(dead_code, reason = "closed when dropped")]
    pub file: Option<OwnedFd>,
}

impl Line {
    pub fn of(file: impl AsFd) -> Result<Self, String> {
        let memory = Shared::map(file, footprint(MESSAGE_RING)).map_err(|error| format!("memory: {error}"))?;
        Ok(Self { memory, file: None })
    }
}

/// The message that comes from a rank.
#[derive(Debug)]
pub struct Coming {
    pub tag: u32,
    pub size: usize,
    pub bytes: Vec<u8>,
}

/// All messages of a rank.
#[derive(Debug)]
pub struct Messages {
    pub rank: u32,
    pub asked: u64,
    pub leaving: BTreeMap<u32, VecDeque<Leaving>>,
    pub out: BTreeMap<u32, Line>,
    pub into: BTreeMap<u32, Line>,
    pub coming: BTreeMap<u32, Coming>,
    /// Messages that came and that nobody has asked for yet, by rank.
    pub kept: Vec<VecDeque<(u32, Vec<u8>)>>,
    /// What is asked for, in order: its number, the rank, the tag.
    pub wanted: Vec<(u64, Option<u32>, u32)>,
}

impl Messages {
    pub fn new(rank: u32, ranks: u32) -> Self {
        Self {
            rank,
            asked: 0,
            leaving: BTreeMap::new(),
            out: BTreeMap::new(),
            into: BTreeMap::new(),
            coming: BTreeMap::new(),
            kept: (0..ranks).map(|_| VecDeque::new()).collect(),
            wanted: Vec::new(),
        }
    }
}
