//! The schedules that a request asks for, of those that its machine can hold.

use model::{Error, Result, Schedule};

use crate::{Request, Workload, budget, many_gpus};

/// Schedules, and by algorithm why it has none.
type SchedulesAndRefusals = (Vec<Schedule>, Vec<(&'static str, Error)>);

impl Request {
    /// The schedules to plan, and why other algorithms of the collective have none.
    ///
    /// # Errors
    /// An unknown algorithm, or a named one that refuses the problem.
    pub fn schedules(&self) -> Result<SchedulesAndRefusals> {
        let shape = &self.fabric.shape;
        match &self.workload {
            Workload::Schedule(schedule) => self.single(schedule),
            Workload::Matrix(blocks) => self.single(blocks.direct()?),
            Workload::Collective { collective, algorithm, options } => {
                if let Some(name) = algorithm.as_deref().filter(|name| *name != "auto") {
                    let algorithm = collectives::find(name)?;
                    algorithm.accepts(*collective, shape, options)?;
                    budget::check_algorithm(self, *collective, options, algorithm)?;
                    return Ok((vec![algorithm.build(*collective, shape, options)?], Vec::new()));
                }
                let (mut accepting, mut refusals) = (Vec::new(), Vec::new());
                for &algorithm in collectives::REGISTRY.iter().filter(|a| a.collectives().contains(collective)) {
                    let accepted = algorithm.accepts(*collective, shape, options);
                    match accepted.and_then(|()| many_gpus::check_steps(algorithm, *collective, shape, options)) {
                        Ok(()) => accepting.push(algorithm),
                        Err(error) => refusals.push((algorithm.name(), error)),
                    }
                }
                let (fitting, mut too_large) = budget::that_fit(self, *collective, options, accepting);
                let schedules = fitting.into_iter().map(|algorithm| algorithm.build(*collective, shape, options));
                too_large.append(&mut refusals);
                Ok((schedules.collect::<Result<_>>()?, too_large))
            }
        }
    }

    /// # Errors
    /// A schedule that needs too much on the request's fabric.
    fn single(&self, schedule: &Schedule) -> Result<SchedulesAndRefusals> {
        budget::check_schedule(self, schedule)?;
        Ok((vec![schedule.clone()], Vec::new()))
    }

    /// The schedule that is named, for statements about the schedule alone, so it may be too large to plan.
    ///
    /// # Errors
    /// An unknown algorithm, one that refuses the problem, or none that is named.
    pub fn named_schedule(&self) -> Result<Option<Schedule>> {
        match &self.workload {
            Workload::Schedule(schedule) => Ok(Some(schedule.clone())),
            Workload::Matrix(blocks) => blocks.direct().map(|schedule| Some(schedule.clone())),
            Workload::Collective { collective, algorithm, options } => {
                let Some(name) = algorithm.as_deref().filter(|name| *name != "auto") else { return Ok(None) };
                let (algorithm, shape) = (collectives::find(name)?, &self.fabric.shape);
                algorithm.accepts(*collective, shape, options)?;
                budget::check_extent(shape.gpus(), name, algorithm.extent(*collective, shape, options))?;
                algorithm.build(*collective, shape, options).map(Some)
            }
        }
    }
}
