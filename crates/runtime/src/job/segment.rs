//! The memory with the workspaces of all ranks, which grows to what the largest task needs.

use rustix::fd::OwnedFd;

use super::control::{Control, open};
use crate::cutoffs::job::LEAST_REGION;
use crate::memory::{check_free, file_in_memory};
use crate::system::Shared;

/// The segment as one rank has it mapped.
#[derive(Debug, Default)]
pub struct Segment {
    memory: Option<Shared>,
    /// Of each rank's region.
    bytes: u64,
    /// Of the rank that made it, so that others find it.
    file: Option<OwnedFd>,
}

impl Segment {
    /// Bytes of a region.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The place where a rank's region begins.
    pub fn region(&self, rank: u32) -> usize {
        rank as usize * self.bytes as usize
    }

    /// The memory; none before the first task.
    pub fn memory(&self) -> Result<&Shared, String> {
        self.memory.as_ref().ok_or_else(|| "memory: there is no segment".into())
    }

    /// Makes a segment with regions of at least these bytes, and says where it is; by one rank.
    pub fn make(&mut self, control: &Control, ranks: u32, bytes: u64) -> Result<(), String> {
        let bytes = bytes.max(LEAST_REGION).checked_next_power_of_two().unwrap_or(bytes);
        let whole = bytes.saturating_mul(u64::from(ranks));
        check_free(whole).map_err(|fault| fault.to_string())?;
        let file = file_in_memory("lightloom-workspaces", whole).map_err(|fault| fault.to_string())?;
        control.announce(&file, bytes);
        self.file = Some(file);
        Ok(())
    }

    /// Maps the segment that was made last.
    pub fn follow(&mut self, control: &Control, ranks: u32) -> Result<(), String> {
        let (bytes, address) = control.announced();
        if bytes != self.bytes {
            let mapped = Shared::map(open(&address)?, bytes as usize * ranks as usize);
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
