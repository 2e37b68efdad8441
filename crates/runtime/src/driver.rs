//! Drivers, which make configurations of circuits.

use crate::board::Board;
use crate::fault::{Fault, Who};

/// A switch that makes configurations and says when it has.
pub trait Driver {
    /// The driver's name in messages.
    fn who(&self) -> Who;

    /// Asks for a configuration; ports that change, those in which it differs from the configuration `from` or else from
    /// what there is, are dark for `dark_ns` from `asked_ns` of the clock on. Returns what to ask `acknowledged` with.
    ///
    /// # Errors
    /// A fault of the switch.
    fn ask(&mut self, from: Option<u32>, configuration: u32, asked_ns: u64, dark_ns: u64) -> Result<u32, Fault>;

    /// The time at which the circuits that were asked for were there, once they are; the controller's bell is rung
    /// then.
    ///
    /// # Errors
    /// A fault of the switch.
    fn acknowledged(&mut self, asked: u32) -> Result<Option<u64>, Fault>;
}

/// The switch process of the shared-memory transport.
#[derive(Debug)]
pub struct OwnSwitch<'a>(pub &'a Board);

impl Driver for OwnSwitch<'_> {
    fn who(&self) -> Who {
        Who::Switch
    }

    fn ask(&mut self, from: Option<u32>, configuration: u32, asked_ns: u64, dark_ns: u64) -> Result<u32, Fault> {
        Ok(self.0.command(from, configuration, asked_ns, dark_ns))
    }

    fn acknowledged(&mut self, asked: u32) -> Result<Option<u64>, Fault> {
        Ok(self.0.acknowledged(asked))
    }
}
