//! Changes of circuits that are asked for: of all drivers, one after the other.

use super::Controller;
use super::change::{Asked, Waited};
use crate::clock::now_ns;
use crate::fault::{Fault, When};

impl Controller<'_> {
    /// Asks a driver for a change.
    pub(super) fn ask(&mut self, what: Asked, driver: usize, asked_ns: u64) -> Result<Waited, Fault> {
        let Asked { from, configuration, dark_ns, .. } = what;
        let ticket = self.drivers[driver].ask(from, configuration, asked_ns, dark_ns)?;
        let allowed_ns = self.request.deadline_ns(dark_ns);
        Ok(Waited { what, driver, ticket, asked_ns, allowed_ns, until_ns: now_ns() + allowed_ns })
    }

    /// The changes that all drivers, one after the other, have made, and when; they are not waited for any more.
    pub(super) fn made(&mut self, asked: &mut Vec<Waited>, when: When) -> Result<Vec<(Option<usize>, u64)>, Fault> {
        let mut made = Vec::new();
        let mut place = 0;
        while let Some(&Waited { what, driver, ticket, asked_ns, allowed_ns, until_ns }) = asked.get(place) {
            match self.drivers[driver].acknowledged(ticket).map_err(|fault| fault.at(when))? {
                Some(_) if driver + 1 < self.drivers.len() => asked[place] = self.ask(what, driver + 1, asked_ns)?,
                Some(done_ns) => {
                    made.push((what.change, done_ns));
                    asked.remove(place);
                }
                None if now_ns() >= until_ns => {
                    let what = format!("acknowledge configuration {}", what.configuration);
                    let (who, seconds) = (self.drivers[driver].who(), allowed_ns as f64 / 1e9);
                    return Err(Fault::Late { who, what, seconds, when });
                }
                None => place += 1,
            }
        }
        Ok(made)
    }
}
