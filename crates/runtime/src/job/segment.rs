//! The memory with the workspaces of all ranks, which grows to what the largest task needs.

use rustix::fd::OwnedFd;

use super::control::{Control, open};
use crate::cutoffs::job::LEAST_SEGMENT;
use crate::memory::{check_free, file_in_memory};
use crate::system::Shared;

/// The segment as one rank has it mapped.
#[derive(Debug, Default)]
pub struct Segment {
    memory: Option<Shared>,
    bytes: u64,
    /// Of the rank that made it, so that others find it.
    file: Option<OwnedFd>,
}

impl Segment {
    /// Bytes that are there.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The memory; none before the first task.
    pub fn memory(&self) -> Result<&Shared, String> {
        self.memory.as_ref().ok_or_else(|| "memory: there is no segment".into())
    }

    /// Makes a segment of at least these bytes, and says where it is; by one rank.
    pub fn make(&mut self, control: &Control, bytes: u64) -> Result<(), String> {
        let bytes = bytes.max(LEAST_SEGMENT).checked_next_power_of_two().unwrap_or(bytes);
        check_free(bytes).map_err(|fault| fault.to_string())?;
        let file = file_in_memory("lightloom-workspaces", bytes).map_err(|fault| fault.to_string())?;
        control.announce(&file, bytes);
        self.file = Some(file);
        Ok(())
    }

    /// Maps the segment that was made last.
    pub fn follow(&mut self, control: &Control) -> Result<(), String> {
        let (bytes, address) = control.announced();
        if bytes != self.bytes {
            let mapped = Shared::map(open(&address)?, bytes as usize);
            // Only the maker of the last one keeps it open.
            if !address.starts_with(&format!("/proc/{}/", std::process::id())) {
                self.file = None;
            }
            self.memory = Some(mapped.map_err(|error| format!("memory: {error}"))?);
            self.bytes = bytes;
        }
        Ok(())
    }
}
