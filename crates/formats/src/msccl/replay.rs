//! Runs the actions in the order of their steps, following what every slot holds.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use model::{Chunks, Error, Op, Rank, Result, Schedule, Step, Transfer, Translations};

use super::actions::{Act, Action, Place};
use super::document::Program;
use super::layout::Layout;
use super::ledger::{Delivery, Ledger, Value};

/// Steps times ranks; every step is looked at rank by rank.
const MAX_STEP_RANKS: u64 = 1 << 28;

/// The contents of a slot, and the steps of the receives behind it, 0 if there is no receive.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    value: Option<Value>,
    /// Last receive whose data is in it.
    filled: u32,
    /// Last receive that replaced it.
    replaced: u32,
}

/// When an action happens, and from when a send may happen that comes after it in its thread block, or waits on it.
#[derive(Debug, Clone, Copy, Default)]
struct Moment {
    level: u32,
    after: u32,
    /// In addition to `after`, the part that local actions pass on from a receive before them: order lets a send share
    /// its step, a wait does not.
    awaited: u32,
}

type Connection = (Rank, Rank, u32);

struct Replay<'a> {
    actions: &'a [Action],
    layout: Layout<'a>,
    ledger: Ledger,
    slots: Vec<Vec<Slot>>,
    /// Per thread block, what it received and passes on.
    passing: BTreeMap<(Rank, u32), Vec<Slot>>,
    moments: Vec<Option<Moment>>,
    messages: Vec<Vec<(u32, usize)>>,
    last_send: BTreeMap<Connection, u32>,
    last_transfer: BTreeMap<Connection, u32>,
}

/// # Errors
/// See [`super::schedule_from_msccl`].
pub(super) fn run(program: &Program, chunks: Chunks, actions: &[Action]) -> Result<Schedule> {
    let layout = Layout::new(program, &chunks)?;
    let mut slots = Vec::with_capacity(program.gpus.len());
    for rank in 0..program.ranks() {
        let mut held = vec![Slot::default(); layout.slots(rank)];
        for (slot, chunk) in layout.start(rank) {
            held[slot].value = Some(Value::Held { chunk, version: 0 });
        }
        slots.push(held);
    }
    let mut replay = Replay {
        actions,
        ledger: Ledger::new(program.collective.reduces(), program.ranks(), chunks.count()),
        layout,
        slots,
        passing: BTreeMap::new(),
        moments: vec![None; actions.len()],
        messages: vec![Vec::new(); actions.len()],
        last_send: BTreeMap::new(),
        last_transfer: BTreeMap::new(),
    };
    replay.all()?;
    for rank in 0..program.ranks() {
        replay.check_end(rank)?;
    }
    schedule(&program.name, &chunks, replay.ledger.deliveries)
}

impl Replay<'_> {
    /// Performs every action as soon as all that it depends on is done, earliest step first, sends before
    /// receives within a step.
    fn all(&mut self) -> Result<()> {
        let actions = self.actions;
        let needs = |action: &Action| [action.follows, action.waits_on, action.send].into_iter().flatten();
        let mut successors: Vec<Vec<usize>> = vec![Vec::new(); actions.len()];
        let mut missing: Vec<usize> = actions.iter().map(|action| needs(action).count()).collect();
        for (index, action) in actions.iter().enumerate() {
            needs(action).for_each(|before| successors[before].push(index));
        }
        let mut ready = BinaryHeap::new();
        let phase = |index: usize| u8::from(!matches!(actions[index].act, Act::Send { .. }));
        for index in (0..actions.len()).filter(|&index| missing[index] == 0) {
            ready.push(Reverse((self.moment(index)?.level, phase(index), index)));
        }
        while let Some(Reverse((level, _, index))) = ready.pop() {
            let moment = self.moment(index)?;
            if moment.level > level {
                // Something was received meanwhile into what it reads.
                ready.push(Reverse((moment.level, phase(index), index)));
                continue;
            }
            self.perform(index, moment.level)?;
            self.moments[index] = Some(moment);
            for &next in &successors[index] {
                missing[next] -= 1;
                if missing[next] == 0 {
                    ready.push(Reverse((self.moment(next)?.level, phase(next), next)));
                }
            }
        }
        match self.moments.iter().position(Option::is_none) {
            Some(stuck) => Err(Error::malformed(
                actions[stuck].at,
                "this step can never start: thread blocks wait for each other in a circle",
            )),
            None => Ok(()),
        }
    }

    /// The time at which the action can happen, as things stand.
    fn moment(&self, index: usize) -> Result<Moment> {
        let action = &self.actions[index];
        let known = |before: Option<usize>| before.and_then(|before| self.moments[before]).unwrap_or_default();
        let (previous, awaited) = (known(action.follows), known(action.waits_on));
        // Only order lets a send share the step of a receive before it; a wait does not.
        let follows_receive =
            action.follows.is_some_and(|before| matches!(self.actions[before].act, Act::Receive { .. }));
        let previous_after = if follows_receive { previous.level } else { previous.after };
        let soft = previous.level.max(awaited.level);
        let hard = previous_after.max(awaited.awaited);
        let here = action.at.gpu;
        match action.act {
            Act::CopyLocally { .. } | Act::ReduceLocally { .. } | Act::Nothing => {
                let after = hard.max(soft);
                Ok(Moment { level: soft, after, awaited: after.max(previous.awaited) })
            }
            Act::Send { from, peer } => {
                let read = self.latest(action, from, |slot| slot.filled)?;
                let level = hard.max(read + 1).max(1 + last(&self.last_send, (here, peer, action.channel)));
                Ok(Moment { level, after: level, awaited: level })
            }
            Act::Receive { into, added_to, peer } => {
                let written = match added_to {
                    None => self.latest(action, into, |slot| slot.filled)?,
                    Some(operand) => self.latest(action, operand, |slot| slot.replaced)?,
                };
                let sent = known(action.send).level;
                let level = soft.max(sent).max(written + 1);
                let level = level.max(1 + last(&self.last_transfer, (peer, here, action.channel)));
                Ok(Moment { level, after: level + 1, awaited: level + 1 })
            }
        }
    }

    /// The largest of a step over the slots of a place.
    fn latest(&self, action: &Action, place: Place, step: impl Fn(&Slot) -> u32) -> Result<u32> {
        let slots = match self.layout.slots_of(action.at, place, action.count)? {
            Some(range) => &self.slots[action.at.gpu as usize][range],
            None => self.passing.get(&(action.at.gpu, action.at.block)).map_or(&[][..], Vec::as_slice),
        };
        Ok(slots.iter().map(step).max().unwrap_or(0))
    }

    fn perform(&mut self, index: usize, level: u32) -> Result<()> {
        let action = &self.actions[index];
        let (at, here, block) = (action.at, action.at.gpu, (action.at.gpu, action.at.block));
        match action.act {
            Act::Nothing => {}
            Act::Send { from, peer } => {
                let mut sent = self.read(action, from)?;
                for (offset, slot) in sent.iter_mut().enumerate() {
                    let (chunk, version) = self.value_of(slot, action, offset)?;
                    self.ledger.send(here, chunk, level);
                    self.messages[index].push((chunk, version));
                }
                self.write(action, from, sent)?;
                self.last_send.insert((here, peer, action.channel), level);
            }
            Act::Receive { into, added_to, peer } => {
                let message = action.send.map(|send| std::mem::take(&mut self.messages[send])).unwrap_or_default();
                let mut written = match added_to {
                    None => self.read(action, into)?,
                    Some(operand) => self.read(action, operand)?,
                };
                for (slot, (chunk, version)) in written.iter_mut().zip(message) {
                    if !self.ledger.lasts_until(peer, chunk, version, level) {
                        let reason = format!("chunk {chunk} changes at GPU {peer} between its send and this receive");
                        return Err(Error::malformed(at, reason));
                    }
                    self.ledger.send(peer, chunk, level);
                    let delivery = Delivery::new(level, peer, here, chunk);
                    *slot = match (added_to, &mut slot.value) {
                        (None, before) => {
                            let value = self.ledger.receive(delivery, *before);
                            Slot { value: Some(value), filled: level, replaced: level }
                        }
                        (Some(_), Some(operand)) => {
                            let sum = self.ledger.receive_sum(delivery, operand, &at)?;
                            Slot { value: Some(sum), filled: level, replaced: slot.replaced }
                        }
                        (Some(_), None) => {
                            return Err(Error::malformed(at, format!("it adds chunk {chunk} to an empty slot")));
                        }
                    };
                }
                match into {
                    Place::Passing => drop(self.passing.insert(block, written)),
                    Place::Slots(..) => self.write(action, into, written)?,
                }
                self.last_transfer.insert((peer, here, action.channel), level);
            }
            Act::CopyLocally { from, into } => {
                let mut copied = self.read(action, from)?;
                for (offset, slot) in copied.iter_mut().enumerate() {
                    self.value_of(slot, action, offset)?;
                }
                self.write(action, from, copied.clone())?;
                self.write(action, into, copied)?;
            }
            Act::ReduceLocally { from, into } => {
                let (added, mut sums) = (self.read(action, from)?, self.read(action, into)?);
                for (sum, added) in sums.iter_mut().zip(added) {
                    let (Some(a), Some(b)) = (sum.value, added.value) else {
                        return Err(Error::malformed(at, "one of the two slots that it adds is empty"));
                    };
                    sum.value = Some(self.ledger.add(a, b, here, &at)?);
                    sum.filled = sum.filled.max(added.filled);
                }
                self.write(action, into, sums)?;
            }
        }
        Ok(())
    }

    fn value_of(&mut self, slot: &mut Slot, action: &Action, offset: usize) -> Result<(u32, usize)> {
        match &mut slot.value {
            Some(value) => self.ledger.settle(value, action.at.gpu, &action.at),
            None => Err(Error::malformed(
                action.at,
                format!("the slot that it reads at +{offset} is empty: no chunk has arrived there"),
            )),
        }
    }

    fn read(&self, action: &Action, place: Place) -> Result<Vec<Slot>> {
        Ok(match self.layout.slots_of(action.at, place, action.count)? {
            Some(range) => self.slots[action.at.gpu as usize][range].to_vec(),
            None => self.passing.get(&(action.at.gpu, action.at.block)).cloned().unwrap_or_default(),
        })
    }

    fn write(&mut self, action: &Action, place: Place, values: Vec<Slot>) -> Result<()> {
        if let Some(range) = self.layout.slots_of(action.at, place, action.count)? {
            self.slots[action.at.gpu as usize][range].copy_from_slice(&values);
        }
        Ok(())
    }

    /// The output holds what it should, as far as it is filled; what never arrived is for the verifier to find.
    fn check_end(&mut self, rank: Rank) -> Result<()> {
        let place = format!("schedule.gpu[{rank}]");
        let mut absent = BTreeSet::new();
        for (index, expected) in self.layout.end(rank).collect::<Vec<_>>() {
            let Some(value) = &mut self.slots[rank as usize][index].value else {
                absent.insert(expected);
                continue;
            };
            let (chunk, _) = self.ledger.settle(value, rank, &place)?;
            if chunk != expected {
                let reason = format!("its output ends with chunk {chunk} where chunk {expected} belongs");
                return Err(Error::malformed(place, reason));
            }
        }
        for slot in &self.slots[rank as usize] {
            if let Some(Value::Held { chunk, .. }) = slot.value
                && absent.contains(&chunk)
            {
                return Err(Error::malformed(
                    place,
                    format!("chunk {chunk} is in another buffer and never reaches the output"),
                ));
            }
        }
        Ok(())
    }
}

fn last(steps: &BTreeMap<Connection, u32>, connection: Connection) -> u32 {
    steps.get(&connection).copied().unwrap_or(0)
}

/// Deliveries grouped into transfers and steps.
fn schedule(name: &str, chunks: &Chunks, deliveries: Vec<Delivery>) -> Result<Schedule> {
    type Carried = BTreeMap<(Rank, Rank, Op), Vec<u32>>;
    let mut levels: BTreeMap<u32, Carried> = BTreeMap::new();
    for Delivery { level, src, dst, chunk, op, .. } in deliveries {
        let Some(op) = op else {
            let reason = format!("chunk {chunk} that GPU {src} sends to {dst} is never used");
            return Err(Error::malformed("schedule", reason));
        };
        levels.entry(level).or_default().entry((src, dst, op)).or_default().push(chunk);
    }
    if levels.len() as u64 * u64::from(chunks.ranks()) > MAX_STEP_RANKS {
        return Err(Error::malformed(
            "schedule",
            format!(
                "{} steps on {} GPUs; steps times GPUs may be at most {MAX_STEP_RANKS}",
                levels.len(),
                chunks.ranks()
            ),
        ));
    }
    let mut steps = Vec::with_capacity(levels.len());
    for transfers in levels.into_values() {
        let transfers = transfers.into_iter().map(|((src, dst, op), mut chunks)| {
            if op == Op::Copy {
                // The same copy on two channels is one.
                chunks.sort_unstable();
                chunks.dedup();
            }
            Transfer { src, dst, op, chunks }
        });
        let step = Step::new(Translations::trivial(chunks.ranks()), transfers, chunks);
        steps.push(step.map_err(|error| Error::malformed("schedule", error))?);
    }
    Schedule::new(name, chunks.clone(), steps)
}
