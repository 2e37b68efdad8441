//! The problem of a request: a schedule with the topologies that its planners may choose from.

use model::{Error, Result, Schedule, Topology, WorkingPorts};
use planners::Problem;
use topologies::candidates;

use crate::many_gpus;
use crate::request::{Request, TopologyRef};

impl Request {
    /// A problem of this request's fabric, candidates and size. The static planner chooses from the static
    /// topologies; from all candidates where only those are named.
    ///
    /// # Errors
    /// A named topology that the fabric cannot have, or no candidates at all.
    pub fn problem(&self, schedule: Schedule) -> Result<Problem> {
        let family = |name: &str| vec![TopologyRef::Named(name.to_string())];
        let statics = match (&self.static_topologies, &self.candidates) {
            (Some(list), _) => self.topologies_of("topology", list, &schedule)?,
            (None, Some(_)) => Vec::new(),
            (None, None) => self.topologies_of("topology", &family(candidates::STATIC_BASELINES), &schedule)?,
        };
        let mut all = match &self.candidates {
            Some(list) => self.topologies_of("candidates", list, &schedule)?,
            None if self.planners()?.iter().all(|planner| planner.capabilities().keeps_one_topology) => Vec::new(),
            None => {
                let dark = self.fabric.reconfiguration.runs_in_background().then_some(candidates::ONE_PORT_DARK);
                let families = candidates::defaults().into_iter().chain(dark);
                let held = self.cache.limits(&self.fabric)?.map(|limits| limits.topologies()).unwrap_or_default();
                let all = families.flat_map(family).chain(held.into_iter().map(TopologyRef::Named));
                self.topologies_of("candidates", &all.collect::<Vec<_>>(), &schedule)?
            }
        };
        all.extend(statics.iter().cloned());
        let mut all = candidates::dedupe(all);
        if self.candidates.is_none() && self.static_topologies.is_none() {
            let found = all.len();
            all = many_gpus::looked_at(all, &schedule);
            if all.is_empty() && found > 0 {
                let reason = "for this many GPUs only topologies as regular as the steps are tried, and none exist; \
                    name a topology, or planner bvn";
                return Err(Error::infeasible("candidates", reason));
            }
        }
        if all.is_empty() {
            let reason =
                "none of the candidates exists for this number of GPUs and ports; name a topology such as ring";
            return Err(Error::infeasible("candidates", reason));
        }
        let size_bytes = self.size_bytes()?;
        let cache = self.cache.clone();
        let mut problem = Problem::sharing(cache, schedule, self.fabric.clone(), self.settings, size_bytes, all)?;
        problem.static_candidates = statics.iter().filter_map(|topology| problem.table.position(topology)).collect();
        problem.options = self.options.clone();
        Ok(problem)
    }

    /// The problem for planners that make their own topologies: the ring is the one candidate, with
    /// all ports and with as many as every GPU has left.
    ///
    /// # Errors
    /// As [`Request::problem`].
    pub(crate) fn problem_without_candidates(&self, schedule: Schedule) -> Result<Problem> {
        let ring =
            candidates::dedupe(self.topologies_of("candidates", &[TopologyRef::Named("ring".into())], &schedule)?);
        let (cache, size_bytes) = (self.cache.clone(), self.size_bytes()?);
        let problem = Problem::sharing(cache, schedule, self.fabric.clone(), self.settings, size_bytes, ring)?;
        Ok(Problem { options: self.options.clone(), ..problem })
    }

    /// The topologies of a list of specifications, families and topologies.
    fn topologies_of(&self, field: &str, list: &[TopologyRef], schedule: &Schedule) -> Result<Vec<Topology>> {
        let mut patterns: Vec<&model::Traffic> = Vec::new();
        for step in schedule.steps() {
            if !patterns.contains(&step.traffic()) {
                patterns.push(step.traffic());
            }
        }
        let whole = &self.fabric.shape;
        // Where ports fail or differ in rate, plans with fewer ports have a port for each circuit too.
        let least = (!whole.faults().is_empty()).then(|| WorkingPorts::of(whole).least());
        let mut fewer: Vec<u32> = match whole.rates() {
            Some(rates) => planners::alike(rates).into_iter().map(|(ports, _)| ports).chain(least).collect(),
            None => least.into_iter().collect(),
        };
        fewer.retain(|ports| (1..whole.ports()).contains(ports));
        let fewer = fewer.into_iter().map(|ports| whole.without_faults(ports)).collect::<Result<Vec<_>>>()?;
        let mut all = Vec::new();
        for item in list {
            match item {
                TopologyRef::Named(name) => {
                    let item = std::slice::from_ref(name);
                    let built = candidates::build(item, whole, &patterns, self.seed);
                    all.extend(built.map_err(|error| error.in_field(field))?);
                    let also = fewer.iter().flat_map(|shape| candidates::build(item, shape, &patterns, self.seed));
                    all.extend(also.flatten());
                }
                TopologyRef::Given(topology) => {
                    topology.check_ports(self.fabric.shape.ports())?;
                    all.push(topology.clone());
                }
            }
        }
        Ok(all)
    }
}
