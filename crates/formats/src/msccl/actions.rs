//! The program as single actions: fused steps taken apart, sends paired with receives, waits resolved.

use std::collections::BTreeMap;
use std::fmt;

use model::{Error, Rank, Result};

use super::document::{Block, Buffer, Instruction, Kind, Program};

/// The place where an action is in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    pub gpu: Rank,
    pub block: u32,
    pub step: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, form: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(form, "schedule.gpu[{}].tb[{}].step[{}]", self.gpu, self.block, self.step)
    }
}

/// The data that an action works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// `count` slots of a buffer from an offset on.
    Slots(Buffer, u32),
    /// The data that the thread block has just received and not stored (`rrs`).
    Passing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    Send {
        from: Place,
        peer: Rank,
    },
    /// `added_to` is what a reducing receive adds the message to.
    Receive {
        into: Place,
        added_to: Option<Place>,
        peer: Rank,
    },
    CopyLocally {
        from: Place,
        into: Place,
    },
    ReduceLocally {
        from: Place,
        into: Place,
    },
    Nothing,
}

#[derive(Debug)]
pub(super) struct Action {
    pub at: Position,
    pub act: Act,
    pub count: u32,
    pub channel: u32,
    /// The action before it in its thread block.
    pub follows: Option<usize>,
    /// The action of another thread block that it waits on.
    pub waits_on: Option<usize>,
    /// For a receive, its send.
    pub send: Option<usize>,
}

/// All actions, by GPU, thread block and step.
///
/// # Errors
/// A wait on a step that does not exist, a step that sends or receives in a thread block without peer, a
/// peer that does not exist, sends and receives that do not pair.
pub(super) fn of(program: &Program) -> Result<Vec<Action>> {
    let mut actions: Vec<Action> = Vec::new();
    for (gpu, blocks) in program.gpus.iter().map(|gpu| &gpu.blocks).enumerate() {
        let mut waits: Vec<(usize, (u32, u32))> = Vec::new();
        let mut last_of: BTreeMap<(u32, u32), usize> = BTreeMap::new();
        for (block_index, block) in blocks.iter().enumerate() {
            let mut follows = None;
            for (step, instruction) in block.instructions.iter().enumerate() {
                let at = Position { gpu: gpu as Rank, block: block_index as u32, step: step as u32 };
                waits.extend(instruction.waits_on.map(|wait| (actions.len(), wait)));
                for act in acts(instruction, block, at, program.ranks())? {
                    let (count, channel) = (instruction.count, block.channel);
                    actions.push(Action { at, act, count, channel, follows, waits_on: None, send: None });
                    follows = Some(actions.len() - 1);
                }
                last_of.insert((at.block, at.step), actions.len() - 1);
            }
        }
        for (index, (block, step)) in waits {
            let target = last_of.get(&(block, step)).copied().ok_or_else(|| {
                Error::malformed(
                    actions[index].at,
                    format!("it waits for step {step} of thread block {block}, which does not exist"),
                )
            })?;
            actions[index].waits_on = Some(target);
        }
    }
    pair(&mut actions)?;
    Ok(actions)
}

fn acts(instruction: &Instruction, block: &Block, at: Position, ranks: u32) -> Result<Vec<Act>> {
    let src = Place::Slots(instruction.src.0, instruction.src.1);
    let dst = Place::Slots(instruction.dst.0, instruction.dst.1);
    let peer = |peer: Option<Rank>, what: &str| match peer {
        Some(peer) if peer < ranks => Ok(peer),
        Some(peer) => Err(Error::malformed(at, format!("its thread block {what} GPU {peer}, which does not exist"))),
        None => Err(Error::malformed(at, format!("its thread block {what} no GPU"))),
    };
    let send = |from| Ok::<_, Error>(Act::Send { from, peer: peer(block.send, "sends to")? });
    let receive =
        |into, added_to| Ok::<_, Error>(Act::Receive { into, added_to, peer: peer(block.recv, "receives from")? });
    Ok(match instruction.kind {
        Kind::Nop => vec![Act::Nothing],
        Kind::S => vec![send(src)?],
        Kind::R => vec![receive(dst, None)?],
        Kind::Rcs => vec![receive(dst, None)?, send(dst)?],
        Kind::Rrs => vec![receive(Place::Passing, Some(src))?, send(Place::Passing)?],
        Kind::Rrc => vec![receive(dst, Some(src))?],
        Kind::Rrcs => vec![receive(dst, Some(src))?, send(dst)?],
        Kind::Cpy => vec![Act::CopyLocally { from: src, into: dst }],
        Kind::Re => vec![Act::ReduceLocally { from: src, into: dst }],
    })
}

/// Pairs the k-th send of a connection with its k-th receive.
fn pair(actions: &mut [Action]) -> Result<()> {
    type Ends = (Vec<usize>, Vec<usize>);
    let mut connections: BTreeMap<(Rank, Rank, u32), Ends> = BTreeMap::new();
    for (index, action) in actions.iter().enumerate() {
        let here = action.at.gpu;
        match action.act {
            Act::Send { peer, .. } => connections.entry((here, peer, action.channel)).or_default().0.push(index),
            Act::Receive { peer, .. } => connections.entry((peer, here, action.channel)).or_default().1.push(index),
            _ => {}
        }
    }
    for ((src, dst, channel), (sends, receives)) in connections {
        let connection = format!("GPU {src} to {dst} on channel {channel}");
        for ends in [&sends, &receives] {
            let apart = ends.windows(2).find(|pair| actions[pair[0]].at.block != actions[pair[1]].at.block);
            if let Some(pair) = apart {
                let reason = format!("a second thread block serves {connection}; each connection takes one");
                return Err(Error::malformed(actions[pair[1]].at, reason));
            }
        }
        let paired = sends.len().min(receives.len());
        let left_over = sends.get(paired).map(|&send| (send, "receive")).or(receives.get(paired).map(|&r| (r, "send")));
        if let Some((index, missing)) = left_over {
            return Err(Error::malformed(actions[index].at, format!("it has no matching {missing}: {connection}")));
        }
        for (send, receive) in sends.into_iter().zip(receives) {
            let (sent, received) = (actions[send].count, actions[receive].count);
            if sent != received {
                let reason = format!("it receives {received} chunks, {} sends {sent}", actions[send].at);
                return Err(Error::malformed(actions[receive].at, reason));
            }
            actions[receive].send = Some(send);
        }
    }
    Ok(())
}
