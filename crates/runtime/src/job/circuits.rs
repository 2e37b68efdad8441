//! The circuits of a group, as entries of its memory: the rank that comes last to a meeting changes them, and data pass
//! only where one leads.

use std::sync::atomic::Ordering;

use super::member::Member;
use crate::clock::{now_ns, sleep_until};

impl Member {
    /// Makes a configuration: the receiver of each port's circuit. Ports that change are dark for `dark_ns`. Returns how
    /// many circuits were made or ended.
    pub(super) fn change(&self, configuration: &[Option<u32>], dark_ns: u64) -> u64 {
        let lit_ns = now_ns() + dark_ns;
        let mut changed = 0;
        for port in 0..self.control.ports() {
            let end = configuration.get(port).copied().flatten().map_or(0, |end| end + 1);
            if self.control.end(port).load(Ordering::Relaxed) != end {
                self.control.end(port).store(end, Ordering::Relaxed);
                self.control.lit(port).store(lit_ns, Ordering::Relaxed);
                changed += 1;
            }
        }
        changed
    }

    /// Waits until a circuit leads from one of these ports to this rank; returns those ports.
    ///
    /// # Errors
    /// There is no such circuit.
    pub(super) fn lit(&self, from: u32, ports: &[u32], ports_each: u32) -> Result<(), String> {
        for &port in ports {
            let end = self.control.end(port as usize).load(Ordering::Relaxed);
            if end.checked_sub(1).map(|end| end / ports_each) != Some(self.rank) {
                let port = port % ports_each;
                return Err(format!("port {port} of rank {from} has no circuit to rank {}", self.rank));
            }
            let lit_ns = self.control.lit(port as usize).load(Ordering::Relaxed);
            if lit_ns > now_ns() {
                sleep_until(lit_ns);
            }
        }
        Ok(())
    }

    /// Takes circuits for data that could enter them at a moment; the moment at which the last bit has left them.
    pub(super) fn take(&self, ports: &[u32], from_ns: u64, ns: u64) -> u64 {
        let mut due_ns = 0;
        for &port in ports {
            // Only the rank at its end counts the time of a circuit.
            let taken = self.control.taken(port as usize);
            let until_ns = taken.load(Ordering::Relaxed).max(from_ns) + ns;
            taken.store(until_ns, Ordering::Relaxed);
            due_ns = due_ns.max(until_ns);
        }
        due_ns
    }
}
