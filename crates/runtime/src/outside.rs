//! A switch outside, which the process that asked for the run drives.

use crate::clock::now_ns;
use crate::driver::Driver;
use crate::fault::{Fault, When, Who};
use crate::owner::Owner;

/// The outside switch of a run.
pub struct OutsideSwitch<'a> {
    owner: &'a dyn Owner,
    configuration: usize,
}

impl<'a> OutsideSwitch<'a> {
    /// The switch that `owner` drives.
    pub fn new(owner: &'a dyn Owner) -> Self {
        Self { owner, configuration: 0 }
    }
}

impl Driver for OutsideSwitch<'_> {
    fn who(&self) -> Who {
        Who::OutsideSwitch
    }

    fn ask(&mut self, _from: Option<u32>, configuration: u32, _asked_ns: u64, _dark_ns: u64) -> Result<u32, Fault> {
        self.configuration = configuration as usize;
        self.owner.ask_outside(self.configuration);
        Ok(0)
    }

    fn acknowledged(&mut self, _asked: u32) -> Result<Option<u64>, Fault> {
        match self.owner.outside_said() {
            None => Ok(None),
            Some(Ok(())) => Ok(Some(now_ns())),
            Some(Err(why)) => Err(Fault::NotMade { configuration: self.configuration, when: When::Before, why }),
        }
    }
}
