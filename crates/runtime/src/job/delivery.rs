//! Messages are put into rings and taken out of them, whenever a rank looks.

use std::collections::btree_map::Entry;

use rustix::fd::AsRawFd;

use super::control::{address, open};
use super::member::Member;
use super::messages::{Arrived, Coming, Leaving, Line, Message, Messages};
use crate::clock::now_ns;
use crate::cutoffs::job::{LOOK_NS, MESSAGE_PACKET, MESSAGE_RING};
use crate::memory::file_in_memory;
use crate::ring::{Ring, footprint, span};
use crate::wire::Header;

impl Member {
    /// Asks for a message to be sent or received; returns the number under which `deliver` tells of it.
    pub fn ask(&self, message: Message) -> u64 {
        let mut messages = self.messages();
        messages.asked += 1;
        let number = messages.asked;
        match message {
            Message::Send(to, tag, bytes) => {
                let leaving = Leaving { number, tag, bytes, left: 0, has_begun: false, ends: 0 };
                messages.leaving.entry(to).or_default().push_back(leaving);
            }
            Message::Receive(from, tag) => messages.wanted.push((number, from, tag)),
        }
        drop(messages);
        self.control.bell(self.rank).ring();
        number
    }

    /// Moves messages on until some have been sent or have come, or until the time is over: those.
    ///
    /// # Errors
    /// The fault of the group, in words.
    pub fn deliver(&self, timeout_ns: u64) -> Result<Vec<Arrived>, String> {
        let end_ns = now_ns().saturating_add(timeout_ns);
        loop {
            let bell = self.control.bell(self.rank);
            let seen = bell.seen();
            let mut messages = self.messages();
            let done = self.move_on(&mut messages).map_err(|why| self.control.fail(&why))?;
            if !done.is_empty() || now_ns() >= end_ns {
                return Ok(done);
            }
            let mut peers: Vec<u32> = messages.wanted.iter().filter_map(|one| one.1).collect();
            peers.extend(messages.leaving.iter().filter(|one| !one.1.is_empty()).map(|one| *one.0));
            drop(messages);
            self.check("a message", &peers)?;
            bell.wait(seen, Some(end_ns.min(now_ns() + LOOK_NS)));
        }
    }

    fn messages(&self) -> std::sync::MutexGuard<'_, Messages> {
        self.messages.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn move_on(&self, messages: &mut Messages) -> Result<Vec<Arrived>, String> {
        let mut done = Vec::new();
        self.send(messages, &mut done)?;
        for from in 0..self.ranks {
            self.receive(messages, from)?;
        }
        let Messages { wanted, kept, .. } = messages;
        wanted.retain(|&(number, from, tag)| {
            let all = 0..kept.len() as u32;
            let found = all.filter(|&one| from.is_none_or(|from| from == one)).find_map(|one| {
                let place = kept[one as usize].iter().position(|message| message.0 == tag)?;
                kept[one as usize].remove(place).map(|message| (one, message.1))
            });
            let Some((peer, bytes)) = found else { return true };
            done.push(Arrived { number, peer, bytes });
            false
        });
        Ok(done)
    }

    /// Puts what has room into the rings; a message is sent when the other rank has taken it.
    fn send(&self, messages: &mut Messages, done: &mut Vec<Arrived>) -> Result<(), String> {
        let rank = messages.rank;
        for (&to, queue) in &mut messages.leaving {
            if queue.is_empty() {
                continue;
            }
            if to == rank {
                for one in queue.drain(..) {
                    done.push(Arrived { number: one.number, peer: to, bytes: Vec::new() });
                    messages.kept[rank as usize].push_back((one.tag, one.bytes));
                }
                continue;
            }
            let line = match messages.out.entry(to) {
                Entry::Occupied(line) => line.into_mut(),
                Entry::Vacant(place) => {
                    let file = file_in_memory("lightloom-messages", footprint(MESSAGE_RING) as u64)
                        .map_err(|fault| fault.to_string())?;
                    let line = Line::of(&file)?;
                    self.control.post(rank, to, file.as_raw_fd() as u32);
                    place.insert(Line { file: Some(file), ..line })
                }
            };
            let ring = Ring::new(&line.memory, 0, MESSAGE_RING);
            let mut is_new = false;
            'messages: for one in queue.iter_mut() {
                while !one.has_begun || one.left < one.bytes.len() {
                    let size = MESSAGE_PACKET.min(one.bytes.len() - one.left);
                    let header = Header {
                        message: one.tag,
                        hop: u32::from(!one.has_begun),
                        offset: one.bytes.len() as u64,
                        size: size as u32,
                        step: 0,
                        sent_ns: 0,
                    };
                    if !ring.push(&header, &one.bytes[one.left..one.left + size]) {
                        break 'messages;
                    }
                    (one.has_begun, one.left, one.ends) = (true, one.left + size, ring.head());
                    is_new = true;
                }
            }
            if is_new {
                self.control.bell(to).ring();
            }
            let is_taken = |one: &&mut Leaving| one.has_begun && one.left == one.bytes.len() && ring.tail() >= one.ends;
            while let Some(one) = queue.front_mut().filter(is_taken) {
                done.push(Arrived { number: one.number, peer: to, bytes: Vec::new() });
                queue.pop_front();
            }
        }
        Ok(())
    }

    /// Takes what has come from a rank.
    fn receive(&self, messages: &mut Messages, from: u32) -> Result<(), String> {
        if from == self.rank {
            return Ok(());
        }
        let line = match messages.into.entry(from) {
            Entry::Occupied(line) => line.into_mut(),
            Entry::Vacant(place) => {
                let Some(file) = self.control.posted(from, self.rank) else { return Ok(()) };
                place.insert(Line::of(open(&address(self.control.process(from), file))?)?)
            }
        };
        let ring = Ring::new(&line.memory, 0, MESSAGE_RING);
        let mut position = ring.tail();
        let mut has_taken = false;
        while let Some(header) = ring.header(position) {
            // A message that nobody wants yet stays where it is, and holds those behind it back.
            let is_wanted = messages.wanted.iter().any(|one| one.1.is_none_or(|peer| peer == from));
            if header.hop == 1 && !is_wanted {
                break;
            }
            let coming = messages.coming.entry(from).or_insert_with(|| Coming {
                tag: header.message,
                size: header.offset as usize,
                bytes: Vec::with_capacity(header.offset as usize),
            });
            let begin = coming.bytes.len();
            coming.bytes.resize(begin + header.size as usize, 0);
            ring.payload(position, &mut coming.bytes[begin..]);
            position += span(header.size as usize);
            ring.free(position);
            has_taken = true;
            if coming.bytes.len() >= coming.size
                && let Some(whole) = messages.coming.remove(&from)
            {
                messages.kept[from as usize].push_back((whole.tag, whole.bytes));
            }
        }
        if has_taken {
            self.control.bell(from).ring();
        }
        Ok(())
    }
}
