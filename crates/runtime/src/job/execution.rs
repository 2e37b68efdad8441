//! A program, executed by the ranks of a group.

use std::sync::atomic::Ordering;

use super::member::{Calls, Member};
use super::segment::Segment;
use super::task::{Piece, Pull, Task};
use crate::clock::{now_ns, sleep_until};
use crate::cutoffs::job::BLOCK;
use crate::elements::{Element, Reduction};
use crate::system::Shared;

/// A step as it went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepCourse {
    /// The moment at which all ranks had come to it, of the monotonic clock.
    pub started_ns: u64,
    /// Ports whose circuits changed before it.
    pub changed: u64,
}

/// The times of a program that was executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execution {
    /// Every step.
    pub steps: Vec<StepCourse>,
    /// The moment at which all ranks had ended the last step.
    pub ended_ns: u64,
}

/// What data are made of, and what becomes of two.
#[derive(Clone, Copy)]
struct Kind {
    element: Element,
    reduction: Reduction,
}

impl Member {
    /// Carries a program out together with all other ranks, which call this too. `call` says what it is, the same at
    /// all ranks. No input: the output holds it.
    ///
    /// # Errors
    /// In words: data of other sizes than the program's; the fault of the group, the same at every rank.
    pub fn execute(
        &self,
        task: &Task,
        call: &str,
        kind: (Element, Reduction),
        input: Option<&[u8]>,
        output: &mut [u8],
        timeout_ns: u64,
    ) -> Result<Execution, String> {
        let kind = Kind { element: kind.0, reduction: kind.1 };
        self.check_sizes(task, input.map_or(output.len(), <[u8]>::len), output.len())?;
        let mut calls = self.lock();
        if task.bytes > calls.segment.bytes() {
            self.grow(&mut calls, task.bytes, call, timeout_ns)?;
        }
        calls.scratch.resize(2 * BLOCK, 0);
        let own = calls.segment.region(self.rank);
        let Calls { segment, scratch, .. } = &mut *calls;
        let memory = segment.memory()?;
        load(memory, &task.loads, own, input.unwrap_or(output));
        if let Some(first) = task.steps.first() {
            copy(memory, &first.packed, (own, own), kind, scratch);
        }
        self.agree(&mut calls, call, timeout_ns, || self.begin(task, 0))?;
        let Calls { segment, scratch, .. } = &mut *calls;
        let memory = segment.memory()?;
        let mut execution = Execution { steps: Vec::with_capacity(task.steps.len()), ended_ns: 0 };
        for (index, step) in task.steps.iter().enumerate() {
            let started_ns = self.control.started().load(Ordering::Relaxed);
            let changed = self.control.changed().load(Ordering::Relaxed);
            execution.steps.push(StepCourse { started_ns, changed });
            // The charge of plans: a step begins once all its circuits are lit, those that stay included.
            let dark_ns = if changed > 0 { task.circuits.dark_ns[index] } else { 0 };
            let begins_ns = started_ns + dark_ns + task.circuits.startup_ns;
            for (hop, pulls) in step.hops.iter().enumerate() {
                if hop > 0 {
                    self.gather(&format!("step {index} of {call}"), timeout_ns, || Ok(()))?;
                }
                let first_ns = begins_ns + hop as u64 * task.circuits.hop_ns;
                self.pull(segment, task, pulls, first_ns, kind, scratch)?;
            }
            if let Some(next) = task.steps.get(index + 1) {
                copy(memory, &next.packed, (own, own), kind, scratch);
            }
            self.gather(&format!("the end of step {index} of {call}"), timeout_ns, || self.begin(task, index + 1))?;
        }
        execution.ended_ns = self.control.started().load(Ordering::Relaxed);
        store(memory, &task.stores, own, output);
        Ok(execution)
    }

    /// Whether data of these sizes are the rank's input and output.
    fn check_sizes(&self, task: &Task, input: usize, output: usize) -> Result<(), String> {
        if task.circuits.ports as usize * self.ranks as usize != self.control.ports() {
            return Err(format!("the group has {} ports, not those of the program", self.control.ports()));
        }
        if [input as u64, output as u64] != [task.input_bytes, task.output_bytes] {
            let (wanted, got) = (task.input_bytes, task.output_bytes);
            return Err(format!(
                "{input} bytes are given and {output} taken, where the program has {wanted} and {got}"
            ));
        }
        Ok(())
    }

    /// Maps a segment of at least these bytes, which the last rank to come makes.
    fn grow(&self, calls: &mut Calls, bytes: u64, call: &str, timeout_ns: u64) -> Result<(), String> {
        let mut segment = std::mem::take(&mut calls.segment);
        let call = format!("{call}, its collective {}", calls.made + 1);
        self.compare(&call, timeout_ns, || segment.make(&self.control, self.ranks, bytes))?;
        segment.follow(&self.control, self.ranks).map_err(|why| self.control.fail(&why))?;
        calls.segment = segment;
        Ok(())
    }

    /// Makes the circuits of a step; by the last rank to come to it.
    fn begin(&self, task: &Task, step: usize) -> Result<(), String> {
        let circuits = &task.circuits;
        let changed = match circuits.held.get(step) {
            Some(&held) => self.change(&circuits.configurations[held as usize], circuits.dark_ns[step]),
            None => 0,
        };
        self.control.changed().store(changed, Ordering::Relaxed);
        self.control.started().store(now_ns(), Ordering::Relaxed);
        Ok(())
    }

    /// Takes all data of a hop, and waits until the circuits would have brought them.
    fn pull(
        &self,
        segment: &Segment,
        task: &Task,
        pulls: &[Pull],
        first_ns: u64,
        kind: Kind,
        scratch: &mut [u8],
    ) -> Result<(), String> {
        let (circuits, memory) = (&task.circuits, segment.memory()?);
        let mut due_ns = 0;
        for pull in pulls {
            self.lit(pull.from, &pull.ports, circuits.ports).map_err(|why| self.control.fail(&why))?;
            if circuits.ns_per_byte > 0.0 {
                let lit = |&port: &u32| self.control.lit(port as usize).load(Ordering::Relaxed);
                let from_ns = pull.ports.iter().map(lit).fold(first_ns, u64::max);
                let ns = (pull.bytes as f64 * circuits.ns_per_byte / pull.ports.len() as f64) as u64;
                due_ns = due_ns.max(self.take(&pull.ports, from_ns, ns) + circuits.hop_ns);
            }
            let regions = (segment.region(pull.from), segment.region(self.rank));
            copy(memory, &pull.pieces, regions, kind, scratch);
        }
        if due_ns > 0 {
            sleep_until(due_ns);
        }
        Ok(())
    }
}

/// Copies and reduces from one region to another, block by block.
fn copy(memory: &Shared, pieces: &[Piece], (from, to): (usize, usize), kind: Kind, scratch: &mut [u8]) {
    let (came, held) = scratch.split_at_mut(BLOCK);
    for piece in pieces {
        let (source, destination) = (from + piece.source as usize, to + piece.destination as usize);
        let size = piece.size as usize;
        if !piece.is_reduction {
            memory.copy(source, destination, size);
            continue;
        }
        for begin in (0..size).step_by(BLOCK) {
            let part = BLOCK.min(size - begin);
            let (came, held) = (&mut came[..part], &mut held[..part]);
            memory.read(source + begin, came);
            memory.read(destination + begin, held);
            kind.reduction.apply(kind.element, held, came);
            memory.write(destination + begin, held);
        }
    }
}

fn load(memory: &Shared, pieces: &[Piece], own: usize, input: &[u8]) {
    for piece in pieces {
        memory.write(own + piece.destination as usize, &input[piece.source as usize..][..piece.size as usize]);
    }
}

fn store(memory: &Shared, pieces: &[Piece], own: usize, output: &mut [u8]) {
    for piece in pieces {
        memory.read(own + piece.source as usize, &mut output[piece.destination as usize..][..piece.size as usize]);
    }
}
