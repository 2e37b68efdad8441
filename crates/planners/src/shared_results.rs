//! Results that are found once and used again: passed on with problems, never kept by the process.

use std::sync::{Arc, Mutex, PoisonError};

use bounds::KnownBounds;
use compositions::Libraries;
use fronts::KnownFronts;
use model::{Fabric, Initial, Result, Topology};

use crate::ProfileTable;
use crate::cutoffs::known_starts::MOST_OF_LAYER;
use crate::known_networks::KnownNetworks;
use crate::known_starts::{KnownStarts, joins_all};
use crate::optical_limits::{KnownLimits, OpticalLimits};
use crate::packet_times::PacketTimes;

/// Results that depend on few properties of a problem, so that problems with other schedules and candidates share them.
#[derive(Debug, Default)]
pub struct Cache {
    /// The phases of compositions.
    pub libraries: Libraries,
    /// Bounds for any algorithm.
    pub bounds: KnownBounds,
    /// The topologies that optical layers can hold.
    limits: KnownLimits,
    /// Flows of topologies and patterns.
    pub fronts: Arc<KnownFronts>,
    /// Topologies that are prepared for routing.
    pub(crate) networks: KnownNetworks,
    /// Topologies that fabrics start on.
    pub(crate) starts: KnownStarts,
}

impl Cache {
    /// The topologies that the optical layer of a fabric can hold; `None` where it sets no limits.
    ///
    /// # Errors
    /// An optical layer of no known kind, or one that does not go with the GPUs.
    pub fn limits(&self, fabric: &Fabric) -> Result<Option<Arc<OpticalLimits>>> {
        self.limits.of(fabric)
    }

    /// The topologies that fabrics of this shape start on, unless GPUs are many, and those of its optical layer, if they
    /// are few; of all of them those on which every GPU reaches every other and that it can hold.
    ///
    /// # Errors
    /// The errors of [`Cache::limits`].
    pub(crate) fn known_starts(&self, fabric: &Fabric) -> Result<Vec<Topology>> {
        let limits = self.limits(fabric)?;
        let starts = self.starts.of(&fabric.shape, &self.networks);
        let can_be_held =
            |topology: &&Topology| limits.as_ref().is_none_or(|limits| limits.refusal(topology).is_none());
        let own = limits.as_ref().map(|limits| limits.topologies()).filter(|own| own.len() <= MOST_OF_LAYER);
        let own = own.into_iter().flatten().filter_map(|name| topologies::build(&name, &fabric.shape).ok());
        let mut all: Vec<Topology> = starts.iter().map(|network| network.topology().clone()).collect();
        for topology in own.filter(joins_all) {
            if !all.iter().any(|known| known.same_links(&topology)) {
                all.push(topology);
            }
        }
        all.retain(|topology| can_be_held(&topology));
        Ok(all)
    }
}

/// The results of planners for one schedule on one set of candidates, for all operating points.
#[derive(Default)]
pub struct Shared {
    /// The times of steps in packets.
    pub(crate) packet_times: PacketTimes,
    /// Tables of planners that make their own topologies, by planner and start.
    tables: Mutex<Vec<(&'static str, Initial, Arc<ProfileTable>)>>,
}

impl Shared {
    /// The kept table of a planner for this start. If there is none yet, `made` is kept and returned.
    pub(crate) fn table(&self, planner: &'static str, initial: &Initial, made: Arc<ProfileTable>) -> Arc<ProfileTable> {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let known = tables.iter().find(|(name, start, _)| *name == planner && start == initial);
        if let Some((_, _, table)) = known {
            return table.clone();
        }
        tables.push((planner, initial.clone(), made.clone()));
        made
    }
}
