//! The optical layer: of all circuits that are lit at once, no more leave an island of GPUs, and enter it, than it has
//! ports.
//!
//! A communication counts at each island with the most circuits that any of its topologies has there, from the
//! beginning of the change before it to its end. Other circuits count as long as a port has them.

use std::cell::RefCell;
use std::collections::BTreeMap;

use model::{Rank, counted};

use super::super::iteration::Iteration;
use crate::report::{Check, Tally};
use crate::shared_ports::{Described, described};

/// Circuits out of islands and into them, by island and direction.
pub(super) type Load = BTreeMap<(u64, bool), u64>;

/// Circuits to other islands and from them, by rank and direction.
pub(super) type Crossing = BTreeMap<(Rank, bool), u64>;

/// An event that may be under way.
pub(super) struct Active {
    pub(super) event: usize,
    pub(super) end_s: f64,
    pub(super) is_now: bool,
}

pub(super) struct Room<'a> {
    pub(super) described: Described<'a>,
    pub(super) tally: Tally,
    pub(super) active: Vec<Active>,
    /// By event, where it has circuits of its own.
    pub(super) most: BTreeMap<usize, Load>,
    /// By group and topology.
    pub(super) known: RefCell<BTreeMap<(usize, usize), Crossing>>,
}

impl<'a> Room<'a> {
    /// The room on the layer of the fabric; `None` where it has no layer.
    pub(super) fn of(iteration: &Iteration<'a>) -> Option<Self> {
        let layer = iteration.training.fabric.optics.as_ref()?;
        let described = described(layer.spelling());
        let (tally, active, most, known) = (Tally::new("optics"), Vec::new(), BTreeMap::new(), RefCell::default());
        Some(Self { described, tally, active, most, known })
    }

    /// The next iteration: times are from its beginning, and what is wrong is found then.
    pub(super) fn begin_again(&mut self, total_s: f64) {
        self.tally = Tally::new("optics");
        for active in &mut self.active {
            active.end_s -= total_s;
            active.is_now = false;
        }
    }

    pub(super) fn into_check(mut self) -> Check {
        let detail = match self.described {
            Described::HoldsAll(kind) => {
                let detail = format!("{kind} can hold all circuits within the ports of the GPUs");
                return Check { name: "optics", passed: true, detail };
            }
            Described::Mesh => {
                let detail = "not checked here: paths of light on a mesh are judged in the file that `lightloom circuits` writes";
                return Check { name: "optics", passed: true, detail: detail.into() };
            }
            Described::Routers { .. } | Described::Selective { .. } | Described::Cubes(_) => {
                self.tally.expect(false, || {
                    "circuits by wavelength and between cubes are not judged over an iteration".into()
                });
                String::new()
            }
            Described::Unknown(spelling) => {
                self.tally.expect(false, || format!("`{spelling}` is not a known optical layer"));
                String::new()
            }
            Described::Islands { ports, .. } => {
                format!("of circuits at islands at once, all within the {} of one", counted(ports, "port"))
            }
        };
        self.tally.into_check("count", &detail)
    }
}
