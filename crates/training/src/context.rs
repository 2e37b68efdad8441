//! The common input of all policies: the workload made ready, the fabric, and the library of plans.

use std::sync::Arc;

use model::{Bound, Error, Fabric, Result, Workload};

use crate::bound::bound;
use crate::cutoffs::context::MOST_TOPOLOGIES;
use crate::jobs::{Jobs, Kind, Task};
use crate::known_plans::KnownPlans;
use crate::layer::Layer;
use crate::library::{Library, TopologyId};
use crate::orders::quickly;
use crate::ports::{Ports, alike, width};
use crate::problem::Limits;
use crate::splits::{Split, even, in_orders, splits};
use crate::timeline::{Problem, Timeline, Use};

/// Topologies that a family's groups may rest on or keep, in addition to the resting topology.
const NAMED: [&str; 1] = ["ring"];

/// The workload, the fabric, and the plans.
pub(crate) struct Context<'a> {
    pub(crate) workload: &'a Workload,
    pub(crate) jobs: &'a Jobs,
    pub(crate) library: Library<'a>,
    /// The optical layer, where it limits circuits.
    pub(crate) layer: Option<Arc<Layer>>,
    pub(crate) splits: Vec<Split>,
    /// By family: the ports for which there are plans, the first of those that are alike.
    pub(crate) alike_ports: Vec<Vec<Ports>>,
    /// The split of the resting topologies; `None` where there are more families than ports.
    pub(crate) resting_split: Option<Split>,
    /// By family: its resting topology on its ports of that split; `None` where its groups cannot all have it at once.
    pub(crate) resting: Vec<Option<TopologyId>>,
    pub(crate) resting_name: String,
    /// Lower bound on the time of any plan of the iteration.
    pub(crate) bound: Bound,
}

impl<'a> Context<'a> {
    /// # Errors
    /// A fabric that training is not planned for, a resting topology that no group can have, a collective that no
    /// planner serves.
    pub(crate) fn new(
        workload: &'a Workload,
        jobs: &'a Jobs,
        fabric: &'a Fabric,
        resting_name: &str,
        known: Arc<KnownPlans>,
        progress: &(dyn Fn(&str) + Sync),
    ) -> Result<Self> {
        let delay_s = constant_delay_s(fabric)?;
        let (families, ports) = (jobs.families.len(), fabric.shape.ports());
        let most = MOST_TOPOLOGIES[usize::from(families > 1)];
        let layer = Layer::of(workload, jobs, fabric)?.map(Arc::new);
        let same_bits = workload.same_bits;
        let mut library =
            Library::new(fabric, delay_s, &jobs.families, &jobs.kinds, most, same_bits, known).on_layer(layer.clone());
        let mut splits = if families == 0 { Vec::new() } else { splits(families, ports) };
        if fabric.shape.rates().is_some() {
            splits = in_orders(&splits);
        }
        // On a layer that limits circuits nothing rests: circuits that nothing uses would be in the way.
        let rests = families > 0 && families <= ports as usize && layer.is_none();
        let resting_split = rests.then(|| even(families, ports));
        let mut resting = vec![None; families];
        // Why no group can rest on it: what the most ports say.
        let (mut rests_somewhere, mut refusal) = (families == 0 || layer.is_some(), (0, None));
        let mut alike_ports: Vec<Vec<Ports>> =
            (0..families).map(|family| ports_of(fabric, &splits, family, jobs.in_series().is_some())).collect();
        let parts = alike_ports.iter().map(Vec::len).sum::<usize>();
        let mut part = 0;
        for (family, of_family) in alike_ports.iter_mut().enumerate() {
            let mut unserved = Vec::new();
            for &own in of_family.iter() {
                part += 1;
                let label = &jobs.families[family].label;
                let what = format!("plans for {label}, {}", model::counted(u64::from(width(own)), "port"));
                let what = if parts > 1 { format!("{what} (part {part} of {parts})") } else { what };
                progress(&what);
                let rests = library.named(family, own, resting_name);
                rests_somewhere |= rests.is_ok();
                let named = NAMED.iter().filter_map(|name| library.named(family, own, name).ok());
                let given: Vec<TopologyId> = rests.iter().copied().chain(named.collect::<Vec<_>>()).collect();
                match (library.stock(family, own, &given, &|found| progress(&format!("{what}: {found}"))), &layer) {
                    (Err(error), None) => return Err(error),
                    (Err(error), Some(_)) => unserved.push((own, error)),
                    (Ok(()), _) => {}
                }
                let is_own = resting_split.as_ref().is_some_and(|split| alike(fabric, split[family]) == own);
                if is_own && !jobs.families[family].overlaps {
                    resting[family] = rests.as_ref().ok().copied();
                }
                if let Err(error) = rests
                    && width(own) > refusal.0
                {
                    refusal = (width(own), Some(error));
                }
            }
            of_family.retain(|own| unserved.iter().all(|(other, _)| other != own));
            let first = unserved.into_iter().next();
            if let (Some(layer), Some((_, error)), true) = (&layer, first, of_family.is_empty()) {
                return Err(layer.refused(&jobs.families, family, error));
            }
        }
        splits.retain(|split| {
            let mut of_families = split.iter().zip(&alike_ports);
            of_families.all(|(&ports, served)| width(ports) == 0 || served.contains(&alike(fabric, ports)))
        });
        if let (false, (_, Some(error))) = (rests_somewhere, refusal) {
            return Err(error.in_field("initial"));
        }
        let resting_name = resting_name.to_string();
        let bound = bound(workload, jobs, &library)?;
        Ok(Self { workload, jobs, library, layer, splits, alike_ports, resting_split, resting, resting_name, bound })
    }

    pub(crate) fn ports(&self) -> u32 {
        self.library.group_plans.fabric.shape.ports()
    }

    pub(crate) fn delay_s(&self) -> f64 {
        self.library.group_plans.delay_s
    }

    /// The ranges of neighbouring ports that a family may have.
    pub(crate) fn ranges(&self, family: usize) -> Vec<Ports> {
        let fabric = self.library.group_plans.fabric;
        let of_width = |&own: &Ports| {
            let all = (own.0..=self.ports() - width(own)).map(move |first| (first, first + width(own)));
            all.filter(move |&ports| alike(fabric, ports) == own)
        };
        self.alike_ports[family].iter().flat_map(of_width).collect()
    }

    /// The iteration with these uses.
    pub(crate) fn problem<'b>(&'b self, uses: &'b [Option<Use>]) -> Problem<'b> {
        let limits = self.layer.as_deref().map(|layer| Limits { layer, library: &self.library });
        Problem { jobs: self.jobs, ports: self.ports(), delay_s: self.delay_s(), uses, limits }
    }

    pub(crate) fn timeline(&self, uses: &[Option<Use>]) -> Option<Timeline> {
        quickly(&self.problem(uses))
    }

    /// The uses that a kind's choice makes of all nodes; `None` where a kind has no choice.
    pub(crate) fn by_kind(&self, choice: impl Fn(usize, &Kind) -> Option<Use>) -> Option<Vec<Option<Use>>> {
        let of_kind: Vec<Option<Use>> =
            self.jobs.kinds.iter().enumerate().map(|(index, kind)| choice(index, kind)).collect();
        let of_job = |task: &Task| match task {
            Task::Compute { .. } => Some(None),
            Task::Communicate { kind, .. } => of_kind[*kind].map(Some),
        };
        self.jobs.jobs.iter().map(|job| of_job(&job.task)).collect()
    }

    /// The number of nodes of each kind.
    pub(crate) fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.jobs.kinds.len()];
        for job in &self.jobs.jobs {
            if let Task::Communicate { kind, .. } = job.task {
                counts[kind] += 1;
            }
        }
        counts
    }
}

/// The ports for which a family has plans, the first of those that are alike, few before many: those of the splits;
/// where communications overlap, streams of a family may share them too.
fn ports_of(fabric: &Fabric, splits: &[Split], family: usize, in_series: bool) -> Vec<Ports> {
    let ports = fabric.shape.ports();
    let of_splits = splits.iter().map(|split| split[family]);
    let shares = [1, ports / 2, ports - ports / 2, ports.saturating_sub(1)];
    let of_streams = shares.into_iter().filter(|share| !in_series && *share > 0);
    let of_streams = of_streams.flat_map(|share| (0..=ports - share).map(move |first| (first, first + share)));
    let all = of_splits.filter(|&own| width(own) > 0).chain(of_streams);
    let mut found: Vec<Ports> = all.map(|own| alike(fabric, own)).collect();
    found.sort_unstable_by_key(|&own| (width(own), own));
    found.dedup();
    found
}

/// The delay of a change, where every change is charged the same and hides behind nothing but idle time.
fn constant_delay_s(fabric: &Fabric) -> Result<f64> {
    if fabric.shape.pairs().is_some() {
        return Err(Error::value(
            "pair_rates",
            "pairs of GPUs with different rates",
            "one rate for all pairs of ranks",
        ));
    }
    let accepts = "one delay for every change";
    let hides = fabric.reconfiguration.runs_in_background()
        || fabric.reconfiguration.overlap() != &model::ReconfigurationOverlap::default();
    if hides {
        let accepts = "none: what hides a change is the iteration's own idle time";
        return Err(Error::value("reconfiguration_overlap", "a window or background changes", accepts));
    }
    let delay = fabric.reconfiguration.delay();
    delay.constant_s().ok_or_else(|| Error::value("reconfiguration_delay", delay.summary(), accepts))
}
