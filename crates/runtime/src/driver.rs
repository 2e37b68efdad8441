//! Drivers, which make configurations of circuits.

use crate::board::Board;
use crate::fault::{Fault, Who};

/// A switch that makes configurations and says when it has.
pub trait Driver {
    /// The driver's name in messages.
    fn who(&self) -> Who;

    /// Asks for a configuration; ports that change are dark for `dark_ns` from `asked_ns` of the clock on.
    ///
    /// # Errors
    /// A fault of the switch.
    fn ask(&mut self, configuration: usize, asked_ns: u64, dark_ns: u64) -> Result<(), Fault>;

    /// When the configuration that was asked for last was there, once it is; the controller's bell is rung then.
    ///
    /// # Errors
    /// A fault of the switch.
    fn acknowledged(&mut self) -> Result<Option<u64>, Fault>;
}

/// The switch process of the shared-memory transport.
#[derive(Debug)]
pub struct OwnSwitch<'a>(pub &'a Board);

impl Driver for OwnSwitch<'_> {
    fn who(&self) -> Who {
        Who::Switch
    }

    fn ask(&mut self, configuration: usize, asked_ns: u64, dark_ns: u64) -> Result<(), Fault> {
        self.0.command(configuration, asked_ns, dark_ns);
        Ok(())
    }

    fn acknowledged(&mut self) -> Result<Option<u64>, Fault> {
        Ok(self.0.acknowledged())
    }
}
