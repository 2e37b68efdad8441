//! The task of a run: the program of every rank, the circuits, the times, all dilated already.

use model::{Error, Result};
use serde::{Deserialize, Serialize};

pub use crate::cutoffs::request::MOST_RANKS;
use crate::elements::{Element, Reduction};
use crate::namespaces::Namespaces;

/// Bytes of a packet, least and most.
pub const PACKET_BYTES: (u32, u32) = (64, 1 << 20);

/// The messages that every rank sends and receives, as columns; offsets and sizes in bytes.
///
/// Message i, of step `step[i]`, goes along ranks `gpus[gpu_offsets[i]..gpu_offsets[i + 1]]`, source first; its bytes
/// are the segments `segment_offsets[i]..segment_offsets[i + 1]`, one after the other. Messages are in the order of
/// steps.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Program {
    /// Number of ranks.
    pub ranks: u32,
    /// Number of steps.
    pub steps: u32,
    /// Bytes of each rank's workspace.
    pub workspace_bytes: Vec<u64>,
    /// The step of each message.
    pub step: Vec<u32>,
    /// Where each message's ranks begin, and the end of the last one's.
    pub gpu_offsets: Vec<u64>,
    /// Ranks of all paths.
    pub gpus: Vec<u32>,
    /// Where each message's segments begin, and the end of the last one's.
    pub segment_offsets: Vec<u64>,
    /// Offset of each segment in the workspace of its source.
    pub source_offset: Vec<u64>,
    /// Offset of each segment in the workspace of its destination.
    pub destination_offset: Vec<u64>,
    /// The size of a segment.
    pub size_bytes: Vec<u64>,
    /// Whether the destination reduces a segment with what it has.
    pub is_reduction: Vec<bool>,
}

/// One step's circuits and times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepSetting {
    /// Index of the configuration of circuits that is held in it.
    pub configuration: u32,
    /// Whether the configuration is made before the step.
    pub is_changed: bool,
    /// Nanoseconds for which ports that change are dark.
    pub dark_ns: u64,
    /// Nanoseconds of computation before it, in which circuits may change.
    pub window_ns: u64,
    /// Nanoseconds that the plan predicts, the reconfiguration included, windows not.
    pub predicted_ns: u64,
}

/// All parameters of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The messages of all ranks.
    pub program: Program,
    /// The type of the data.
    pub element: Element,
    /// The operation on segments that are reduced.
    pub reduction: Reduction,
    /// Ports per rank; port p of rank r, both from 0, is number r·ports + p.
    pub ports: u32,
    /// By configuration and transmitter, the number of the port that its circuit leads to.
    pub configurations: Vec<Vec<Option<u32>>>,
    /// Index of the configuration that is there when a run begins.
    pub initial: u32,
    /// Circuits and times of each step.
    pub steps: Vec<StepSetting>,
    /// Where each rank's workspace begins in the memory that comes with the request.
    pub workspace_offset: Vec<u64>,
    /// Nanoseconds that a circuit takes for a byte.
    pub ns_per_byte: f64,
    /// Nanoseconds before ranks send in a step.
    pub startup_ns: u64,
    /// Nanoseconds from one end of a circuit to the other.
    pub hop_ns: u64,
    /// Bytes of a packet, without its header, which takes no time.
    pub packet_bytes: u32,
    /// Runs that are measured.
    pub runs: u32,
    /// Runs before them.
    pub warm_ups: u32,
    /// Whether real-time priority and locked memory are asked for.
    pub asks_priority: bool,
    /// Nanoseconds for which the machine's jitter is probed before the first run.
    pub probe_ns: u64,
    /// Whether a switch outside makes every configuration before the switch process does.
    pub has_outside_switch: bool,
    /// Where the kernel carries packets, not rings and a switch process.
    pub namespaces: Option<Namespaces>,
    /// A wait ends as a fault after so many times what the plan predicts ...
    pub deadline_factor: f64,
    /// ... and so many nanoseconds more.
    pub deadline_floor_ns: u64,
}

impl Program {
    /// Number of messages.
    pub fn messages(&self) -> usize {
        self.step.len()
    }

    /// The ranks on the path of a message, source first.
    pub fn path(&self, message: usize) -> &[u32] {
        &self.gpus[self.gpu_offsets[message] as usize..self.gpu_offsets[message + 1] as usize]
    }

    /// Indices of the segments of a message.
    pub fn segments(&self, message: usize) -> std::ops::Range<usize> {
        self.segment_offsets[message] as usize..self.segment_offsets[message + 1] as usize
    }

    /// Bytes of a message.
    pub fn message_bytes(&self, message: usize) -> u64 {
        self.size_bytes[self.segments(message)].iter().sum()
    }

    /// Indices of the messages of a step.
    pub fn of_step(&self, step: usize) -> std::ops::Range<usize> {
        let begin = self.step.partition_point(|&one| (one as usize) < step);
        begin..begin + self.step[begin..].partition_point(|&one| one as usize == step)
    }

    fn check(&self, element_bytes: u64) -> Result<()> {
        let wrong = |what: &str| Err(Error::malformed("program", what));
        let (messages, segments) = (self.step.len(), self.size_bytes.len());
        if !(2..=MOST_RANKS).contains(&self.ranks) {
            return Err(Error::value(
                "gpus",
                self.ranks,
                format!("2 to {MOST_RANKS} where a plan runs on one machine"),
            ));
        }
        if self.workspace_bytes.len() != self.ranks as usize {
            return wrong("every rank must have a workspace");
        }
        if !is_partition(&self.gpu_offsets, messages, self.gpus.len())
            || !is_partition(&self.segment_offsets, messages, segments)
            || [self.source_offset.len(), self.destination_offset.len(), self.is_reduction.len()] != [segments; 3]
        {
            return wrong("its columns must have the same length");
        }
        if !self.step.is_sorted() || self.step.last().is_some_and(|&step| step >= self.steps) {
            return wrong("messages must be in the order of steps");
        }
        if messages > u32::MAX as usize {
            return wrong("it has too many messages");
        }
        for message in 0..messages {
            let path = self.path(message);
            if path.len() < 2 || path.iter().any(|&rank| rank >= self.ranks) {
                return wrong("a path must have at least two ranks, all of them ranks of the program");
            }
            let [source, destination] = [path[0], path[path.len() - 1]].map(|rank| self.workspace_bytes[rank as usize]);
            for segment in self.segments(message) {
                let size = self.size_bytes[segment];
                let fits = |offset: u64, workspace: u64| offset.checked_add(size).is_some_and(|end| end <= workspace);
                if !fits(self.source_offset[segment], source) || !fits(self.destination_offset[segment], destination) {
                    return wrong("a segment lies outside of a workspace");
                }
                if !size.is_multiple_of(element_bytes) {
                    return wrong("a segment must consist of whole elements");
                }
            }
            if self.message_bytes(message) == 0 {
                return wrong("a message has no bytes");
            }
        }
        Ok(())
    }
}

impl Request {
    /// Number of all transmitters, and of all receivers.
    pub fn all_ports(&self) -> usize {
        (self.program.ranks * self.ports) as usize
    }

    /// Ports of a rank from which a configuration leads to another, from 0.
    pub fn ports_to(&self, configuration: usize, from: u32, to: u32) -> impl Iterator<Item = u32> + '_ {
        let first = (from * self.ports) as usize;
        let circuits = &self.configurations[configuration][first..first + self.ports as usize];
        (0..self.ports)
            .zip(circuits)
            .filter(move |(_, end)| end.is_some_and(|end| end / self.ports == to))
            .map(|one| one.0)
    }

    /// Nanoseconds after which a wait for something that should take `predicted_ns` is a fault.
    pub fn deadline_ns(&self, predicted_ns: u64) -> u64 {
        ((predicted_ns as f64 * self.deadline_factor) as u64).saturating_add(self.deadline_floor_ns)
    }

    /// # Errors
    /// Parts that do not fit together, or numbers outside what a run takes.
    pub fn check(&self) -> Result<()> {
        self.program.check(self.element.bytes())?;
        let wrong = |what: &str| Err(Error::malformed("program", what));
        let times = [self.ns_per_byte, self.deadline_factor];
        if times.iter().any(|time| !time.is_finite() || *time < 0.0) || self.ports == 0 || self.runs == 0 {
            return wrong("times must be finite, and there must be ports and runs");
        }
        if !(PACKET_BYTES.0..=PACKET_BYTES.1).contains(&self.packet_bytes) {
            let (least, most) = PACKET_BYTES;
            return Err(Error::value("packet_size", self.packet_bytes, format!("{least} to {most} bytes")));
        }
        if let Some(namespaces) = &self.namespaces {
            namespaces.check(self.program.ranks, self.packet_bytes)?;
        }
        if self.program.ranks.checked_mul(self.ports).is_none_or(|ports| ports > 1 << 14) {
            return Err(Error::value(
                "ports",
                self.ports,
                "so many that all ranks of a run have at most 16384 together",
            ));
        }
        if self.steps.len() != self.program.steps as usize
            || self.workspace_offset.len() != self.program.ranks as usize
            || self.configurations.iter().any(|one| one.len() != self.all_ports())
            || self.initial as usize >= self.configurations.len()
            || self.steps.iter().any(|step| step.configuration as usize >= self.configurations.len())
            || self.workspace_offset.iter().any(|offset| !offset.is_multiple_of(8))
        {
            return wrong("steps, configurations and workspaces do not fit together");
        }
        for circuits in &self.configurations {
            let mut ends: Vec<u32> = circuits.iter().flatten().copied().collect();
            ends.sort_unstable();
            if ends.windows(2).any(|pair| pair[0] == pair[1])
                || ends.last().is_some_and(|&end| end as usize >= circuits.len())
            {
                return wrong("two circuits of a configuration lead to one port");
            }
        }
        Ok(())
    }
}

fn is_partition(offsets: &[u64], parts: usize, whole: usize) -> bool {
    offsets.len() == parts + 1
        && offsets[0] == 0
        && offsets[parts] == whole as u64
        && offsets.windows(2).all(|pair| pair[0] <= pair[1])
}
