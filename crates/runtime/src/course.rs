//! The course of a run: which steps and changes of circuits may begin, as others end.

use std::collections::VecDeque;

use model::{Error, Result};

use crate::report::{ChangeTimes, StepTimes};
use crate::request::{Change, Request};

/// Checks a request, and that all its steps and changes get their turn.
///
/// # Errors
/// The first fault of the program or of the run's settings.
pub fn check(request: &Request) -> Result<()> {
    request.check()?;
    if Course::new(request, 0).is_some_and(Course::comes_to_an_end) {
        return Ok(());
    }
    let what = "steps and changes of circuits wait for each other in a circle, or for some that there are not";
    Err(Error::malformed("program", what))
}

/// The processes that wait for a step, or for a change of circuits.
#[derive(Debug, Clone, Default)]
struct Followers {
    steps: Vec<u32>,
    changes: Vec<u32>,
}

/// The progress of a run. Moments are those of the clock, in nanoseconds.
#[derive(Debug, Clone)]
pub struct Course<'a> {
    request: &'a Request,
    begun_ns: u64,
    /// Moments of every step; `start_ns` is known once it may start.
    pub steps: Vec<StepTimes>,
    /// Moments of every change.
    pub changes: Vec<ChangeTimes>,
    step_waits: Vec<usize>,
    change_waits: Vec<usize>,
    of_steps: Vec<Followers>,
    of_changes: Vec<Followers>,
    /// By change, those that are asked for after it.
    of_asking: Vec<Vec<u32>>,
    ready_steps: VecDeque<usize>,
    ready_changes: VecDeque<usize>,
    /// Steps that have not ended, and changes that are not made.
    left: usize,
}

impl<'a> Course<'a> {
    /// A run that begins at a moment. `None` if a step or change waits for one that does not exist.
    pub fn new(request: &'a Request, begun_ns: u64) -> Option<Self> {
        let (steps, changes) = (request.steps.len(), request.changes.len());
        let [mut of_steps, mut of_changes] = [steps, changes].map(|count| vec![Followers::default(); count]);
        let mut of_asking = vec![Vec::new(); changes];
        for (number, step) in (0..).zip(&request.steps) {
            for &before in &step.after {
                of_steps.get_mut(before as usize)?.steps.push(number);
            }
            for &before in &step.needs {
                of_changes.get_mut(before as usize)?.steps.push(number);
            }
        }
        for (number, change) in (0..).zip(&request.changes) {
            for &before in &change.after {
                of_steps.get_mut(before as usize)?.changes.push(number);
            }
            for &before in &change.after_changes {
                of_changes.get_mut(before as usize)?.changes.push(number);
            }
            for &before in &change.follows {
                of_asking.get_mut(before as usize)?.push(number);
            }
        }
        let waits = |change: &Change| change.after.len() + change.after_changes.len() + change.follows.len();
        let of_step = StepTimes { begun_ns, asked_ns: begun_ns, acknowledged_ns: begun_ns, ..StepTimes::default() };
        let mut made = Self {
            request,
            begun_ns,
            steps: vec![of_step; steps],
            changes: vec![ChangeTimes { asked_ns: begun_ns, acknowledged_ns: begun_ns }; changes],
            step_waits: request.steps.iter().map(|step| step.after.len() + step.needs.len()).collect(),
            change_waits: request.changes.iter().map(waits).collect(),
            of_steps,
            of_changes,
            of_asking,
            ready_steps: VecDeque::new(),
            ready_changes: VecDeque::new(),
            left: steps + changes,
        };
        (0..steps).for_each(|step| made.release_step(step, 0));
        (0..changes).for_each(|change| made.release_change(change, 0));
        Some(made)
    }

    /// Whether all steps have ended and all changes are made.
    pub fn is_over(&self) -> bool {
        self.left == 0
    }

    /// A step that waits for nothing any more, and has not been told yet.
    pub fn next_step(&mut self) -> Option<usize> {
        self.ready_steps.pop_front()
    }

    /// A change that waits for nothing any more and has not been returned before. The caller asks for it before it
    /// calls this again.
    pub fn next_change(&mut self) -> Option<usize> {
        let change = self.ready_changes.pop_front()?;
        let asked_ns = self.changes[change].asked_ns;
        for next in std::mem::take(&mut self.of_asking[change]).into_iter().map(|next| next as usize) {
            let times = &mut self.changes[next];
            times.asked_ns = times.asked_ns.max(asked_ns);
            self.release_change(next, 1);
        }
        Some(change)
    }

    /// A step has ended.
    pub fn step_ended(&mut self, step: usize, end_ns: u64) {
        self.steps[step].end_ns = end_ns;
        self.left -= 1;
        let Followers { steps, changes } = std::mem::take(&mut self.of_steps[step]);
        for next in steps.into_iter().map(|next| next as usize) {
            let times = &mut self.steps[next];
            times.begun_ns = times.begun_ns.max(end_ns);
            self.release_step(next, 1);
        }
        for next in changes.into_iter().map(|next| next as usize) {
            let times = &mut self.changes[next];
            times.asked_ns = times.asked_ns.max(end_ns);
            self.release_change(next, 1);
        }
    }

    /// A change has been made.
    pub fn change_made(&mut self, change: usize, acknowledged_ns: u64) {
        let times = &mut self.changes[change];
        times.acknowledged_ns = acknowledged_ns;
        let asked_ns = times.asked_ns;
        self.left -= 1;
        let Followers { steps, changes } = std::mem::take(&mut self.of_changes[change]);
        for next in steps.into_iter().map(|next| next as usize) {
            let times = &mut self.steps[next];
            if acknowledged_ns >= times.acknowledged_ns {
                (times.asked_ns, times.acknowledged_ns) = (asked_ns, acknowledged_ns);
            }
            self.release_step(next, 1);
        }
        for next in changes.into_iter().map(|next| next as usize) {
            let times = &mut self.changes[next];
            times.asked_ns = times.asked_ns.max(acknowledged_ns);
            self.release_change(next, 1);
        }
    }

    /// Whether everything gets its turn; a step ends once the steps have begun before which it does not keep its data.
    pub fn comes_to_an_end(mut self) -> bool {
        let mut has_begun = vec![false; self.steps.len()];
        let mut under_way: Vec<usize> = Vec::new();
        loop {
            let keeps = |&step: &usize| self.request.steps[step].keeps_after.iter().all(|&one| has_begun[one as usize]);
            if let Some(place) = under_way.iter().position(keeps) {
                self.step_ended(under_way.swap_remove(place), 0);
            } else if let Some(step) = self.next_step() {
                has_begun[step] = true;
                under_way.push(step);
            } else if let Some(change) = self.next_change() {
                self.change_made(change, 0);
            } else {
                return self.is_over();
            }
        }
    }

    fn release_step(&mut self, step: usize, waits: usize) {
        self.step_waits[step] -= waits;
        if self.step_waits[step] == 0 {
            let times = &mut self.steps[step];
            if self.request.steps[step].needs.is_empty() {
                (times.asked_ns, times.acknowledged_ns) = (times.begun_ns, times.begun_ns);
            }
            let setting = &self.request.steps[step];
            times.start_ns =
                times.acknowledged_ns.max(times.begun_ns + setting.window_ns).max(self.begun_ns + setting.earliest_ns);
            self.ready_steps.push_back(step);
        }
    }

    fn release_change(&mut self, change: usize, waits: usize) {
        self.change_waits[change] -= waits;
        if self.change_waits[change] == 0 {
            self.ready_changes.push_back(change);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paces::Paces;
    use crate::request::{Program, StepSetting};
    use crate::{Element, Reduction};

    /// Steps that wait for steps and changes, and changes that wait likewise.
    fn request(steps: &[(&[u32], &[u32])], changes: &[(&[u32], &[u32])]) -> Request {
        let step = |&(after, needs): &(&[u32], &[u32])| StepSetting {
            after: after.to_vec(),
            needs: needs.to_vec(),
            window_ns: 10,
            ..StepSetting::default()
        };
        let change = |&(after, after_changes): &(&[u32], &[u32])| Change {
            after: after.to_vec(),
            after_changes: after_changes.to_vec(),
            ..Change::default()
        };
        Request {
            program: Program::default(),
            element: Element::Int32,
            reduction: Reduction::Sum,
            ports: 1,
            configurations: Vec::new(),
            initial: 0,
            parties: Vec::new(),
            port_sets: Vec::new(),
            steps: steps.iter().map(step).collect(),
            changes: changes.iter().map(change).collect(),
            workspace_offset: Vec::new(),
            ns_per_byte: 0.0,
            hop_ns: 0,
            paces: Paces::default(),
            packet_bytes: 64,
            runs: 1,
            warm_ups: 0,
            asks_priority: false,
            probe_ns: 0,
            has_outside_switch: false,
            namespaces: None,
            deadline_factor: 0.0,
            deadline_floor_ns: 0,
        }
    }

    #[test]
    fn a_step_begins_when_the_last_has_ended_and_starts_when_its_circuits_are_there() {
        let request = request(&[(&[], &[]), (&[], &[]), (&[0, 1], &[0])], &[(&[1], &[])]);
        let mut course = Course::new(&request, 100).expect("a course");
        assert_eq!((course.next_step(), course.next_step(), course.next_step()), (Some(0), Some(1), None));
        assert_eq!((course.steps[0].begun_ns, course.steps[0].start_ns, course.next_change()), (100, 110, None));
        course.step_ended(1, 150);
        assert_eq!((course.next_change(), course.changes[0].asked_ns), (Some(0), 150));
        course.change_made(0, 400);
        assert_eq!(course.next_step(), None);
        course.step_ended(0, 200);
        assert_eq!(course.next_step(), Some(2));
        // The step begins with the later of the two, and its circuits come after its computation.
        let StepTimes { begun_ns, asked_ns, acknowledged_ns, start_ns, .. } = course.steps[2];
        assert_eq!((begun_ns, asked_ns, acknowledged_ns, start_ns), (200, 150, 400, 400));
        assert!(!course.is_over());
        course.step_ended(2, 500);
        assert!(course.is_over());
    }

    #[test]
    fn a_change_that_follows_another_is_asked_for_after_it_and_does_not_wait_until_it_is_made() {
        let mut request = request(&[(&[], &[])], &[(&[0], &[]), (&[], &[])]);
        request.changes[1].follows.push(0);
        let mut course = Course::new(&request, 0).expect("a course");
        assert_eq!((course.next_step(), course.next_change()), (Some(0), None));
        course.step_ended(0, 70);
        assert_eq!((course.next_change(), course.next_change()), (Some(0), Some(1)));
        assert_eq!(course.changes[1].asked_ns, 70);
        request.changes[0].follows.push(1);
        assert_eq!(Course::new(&request, 0).map(Course::comes_to_an_end), Some(false));
    }

    #[test]
    fn a_step_starts_no_earlier_than_it_is_told_since_the_run_began() {
        let mut request = request(&[(&[], &[]), (&[0], &[])], &[]);
        request.steps[1].earliest_ns = 300;
        for (end_ns, start_ns) in [(150, 400), (500, 510)] {
            let mut course = Course::new(&request, 100).expect("a course");
            assert_eq!(course.next_step(), Some(0));
            course.step_ended(0, end_ns);
            assert_eq!((course.next_step(), course.steps[1].start_ns), (Some(1), start_ns));
        }
    }

    #[test]
    fn steps_that_keep_nothing_before_the_other_has_begun_come_to_an_end_only_at_once() {
        let ends = |after: &[u32]| {
            let mut request = request(&[(&[], &[]), (after, &[])], &[]);
            (request.steps[0].keeps_after, request.steps[1].keeps_after) = (vec![1], vec![0]);
            Course::new(&request, 0).map(Course::comes_to_an_end)
        };
        assert_eq!((ends(&[]), ends(&[0])), (Some(true), Some(false)));
    }

    #[test]
    fn circles_come_to_no_end_and_what_there_is_not_is_no_course() {
        let ends = |steps: &[(&[u32], &[u32])], changes: &[(&[u32], &[u32])]| {
            Course::new(&request(steps, changes), 0).map(Course::comes_to_an_end)
        };
        assert_eq!(ends(&[(&[], &[]), (&[0], &[])], &[]), Some(true));
        assert_eq!(ends(&[(&[1], &[]), (&[0], &[])], &[]), Some(false));
        assert_eq!(ends(&[(&[], &[0])], &[(&[0], &[])]), Some(false));
        assert_eq!(ends(&[(&[], &[])], &[(&[], &[0])]), Some(false));
        assert_eq!(ends(&[(&[1], &[])], &[]), None);
        assert_eq!(ends(&[(&[], &[0])], &[]), None);
    }
}
