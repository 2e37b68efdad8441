//! The network namespaces that the caller has made: one for every rank, one for the switch between them.

pub use crate::cutoffs::namespaces::MOST_PACKET_BYTES;
use model::{Error, Result};
use serde::{Deserialize, Serialize};

/// The namespaces of a run, by the files that name them.
///
/// In the namespace of a rank the interface `pP` is its port P; its other end is in the switch's namespace, with the
/// index `first_index` + number of the port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Namespaces {
    /// The switch's.
    pub switch: String,
    /// The namespace of each rank.
    pub ranks: Vec<String>,
    /// Index of the first port's interface in the switch's namespace.
    pub first_index: u32,
    /// Bytes that a port's token bucket holds.
    pub bucket_bytes: u64,
}

impl Namespaces {
    /// # Errors
    /// Namespaces that do not fit the ranks and ports of a run, or its packets.
    pub fn check(&self, ranks: u32, packet_bytes: u32) -> Result<()> {
        if self.ranks.len() != ranks as usize || self.first_index == 0 || self.first_index > 1 << 16 {
            return Err(Error::malformed(
                "program",
                "every rank must have a namespace, and interfaces must have indices from 1 to 65536",
            ));
        }
        if packet_bytes > MOST_PACKET_BYTES {
            return Err(Error::value(
                "packet_size",
                packet_bytes,
                format!("at most {MOST_PACKET_BYTES} bytes in the kernel"),
            ));
        }
        Ok(())
    }
}

/// Moves this process into the network namespace that a file names.
///
/// # Errors
/// Why not, in words.
#[cfg(target_os = "linux")]
pub fn enter(path: &str) -> std::result::Result<(), String> {
    use rustix::fd::AsFd;
    use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
    let refused = |error: &dyn std::fmt::Display| format!("the namespace {path} was not entered: {error}");
    let file = std::fs::File::open(path).map_err(|error| refused(&error))?;
    move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network)).map_err(|error| refused(&error))
}
