//! One request at many points that differ only in numbers: size, bandwidth and delays.
//!
//! Schedules, candidates and profiles do not depend on these numbers, so all points share them.

use std::sync::{Mutex, PoisonError};

use interruption::Interruptible;
use model::{Collective, Error, Result, units};
use planners::{Choice, Envelope, OperatingPoint};
use rayon::prelude::*;

use crate::cutoffs::series::MOST_NAMED;
use crate::{Prepared, Request, tiers};

/// A request, prepared for many points.
pub struct Series {
    prepared: Prepared,
    /// Planner and algorithm of what was chosen so far, in the order of first use.
    names: Mutex<Vec<(String, String)>>,
    /// Topologies, in the order of their steps, of what was chosen so far.
    topologies: Mutex<Vec<String>>,
}

/// The numbers of points, one each per point; [`OperatingPoint`] says what they are.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "they are the fields of `OperatingPoint`")]
pub struct Points<'a> {
    pub size_bytes: &'a [f64],
    pub bandwidth_bps: &'a [f64],
    pub startup_s: &'a [f64],
    pub hop_delay_s: &'a [f64],
    pub reconfiguration_delay_s: &'a [f64],
}

/// The results, one for each point.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// Completion times, s; NaN where nothing serves the point.
    pub total_s: Vec<f64>,
    /// Changes of topology; 0 where nothing serves the point.
    pub reconfigurations: Vec<u32>,
    /// Index of the chosen planner and algorithm in [`Series::names`], [`Evaluation::NOTHING`] where nothing serves
    /// the point.
    pub choice: Vec<u32>,
    /// Lower bounds, s, where they are asked for.
    pub lower_bound_s: Option<Vec<f64>>,
    /// Times of the best plans whose circuits never change, s, where all algorithms and planners are open and searched
    /// at every point; NaN where nothing serves the point without a change.
    pub never_change_s: Option<Vec<f64>>,
    /// Index of the chosen plan's topologies in [`Series::topologies`], or [`Evaluation::NOTHING`].
    pub topologies: Vec<u32>,
    /// `choice` and `topologies` of the best plans whose circuits never change, where `never_change_s` is given.
    pub never_change: Option<(Vec<u32>, Vec<u32>)>,
}

impl Evaluation {
    /// Index that stands for no choice.
    pub const NOTHING: u32 = u32::MAX;
}

impl Series {
    /// Prepares the request and plans it at its own numbers, which the points replace.
    ///
    /// # Errors
    /// Wrong input, or nothing that serves the request.
    pub fn new(request: &Request) -> Result<Self> {
        request.refuse_forwarding()?;
        if tiers::serves(request) {
            let reason = "many points are planned on circuits alone: name a planner, such as harvest";
            return Err(Error::refused("electrical", "a fabric with electrical switches", reason));
        }
        let prepared = Prepared::new(request)?;
        prepared.make_problems()?;
        prepared.best_at(&prepared.own_numbers()?)?;
        Ok(Self { prepared, names: Mutex::default(), topologies: Mutex::default() })
    }

    /// The collective that is planned.
    pub fn collective(&self) -> Collective {
        self.prepared.request().collective()
    }

    /// GPUs of the fabric.
    pub fn gpus(&self) -> u32 {
        self.prepared.request().fabric.shape.gpus()
    }

    /// The rate of the fastest circuit, bit/s, and the least hop delay, s: the request's own.
    pub fn fastest(&self) -> (f64, f64) {
        let fabric = &self.prepared.request().fabric;
        (fabric.bandwidth_bps, fabric.hop_delay_s)
    }

    /// Names of the planners and algorithms that were chosen so far. It only becomes longer.
    pub fn names(&self) -> Vec<(String, String)> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Topologies of what was chosen so far, in the order of their steps: the first few, where there are many. It only
    /// becomes longer.
    pub fn topologies(&self) -> Vec<String> {
        self.topologies.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The results of [`crate::plan`] at every point. `bound`: whether to bound the times from below.
    ///
    /// Where the least time is a concave function of the numbers, searches at few points serve all ([`Envelope`]);
    /// elsewhere every point is searched. A point's result depends neither on the number of threads nor on the other
    /// points, except that among plans of exactly equal time the number of reconfigurations and the topologies may
    /// differ.
    ///
    /// # Errors
    /// Arrays of different lengths, or a number that its field does not take; other rates than the request's own where
    /// circuits have several, and other hop delays where these are those of pairs of GPUs.
    pub fn evaluate(&self, points: Points, bound: bool) -> Result<Evaluation> {
        let numbers = points.numbers()?;
        self.check_rates(&numbers)?;
        if self.prepared.is_concave() { self.on_pieces(&numbers, bound) } else { Ok(self.one_by_one(&numbers, bound)) }
    }

    fn check_rates(&self, numbers: &[OperatingPoint]) -> Result<()> {
        let fabric = &self.prepared.request().fabric;
        let Some((field, unlike)) = fabric.shape.unlike_rates() else { return Ok(()) };
        let keeps_hops = fabric.shape.pairs().is_some();
        for at in numbers {
            let other = match (at.bandwidth_bps != fabric.bandwidth_bps, at.hop_delay_s != fabric.hop_delay_s) {
                (true, _) => ("bandwidth", "another rate of circuits"),
                (_, true) if keeps_hops => ("hop_delay", "another delay of hops"),
                _ => continue,
            };
            return Err(Error::value(other.0, other.1, format!("that of the fabric with {unlike} (`{field}`)")));
        }
        Ok(())
    }

    fn best_at(&self, at: &OperatingPoint) -> Result<Choice> {
        self.prepared.best_at(at)
    }

    /// The bound that the plan of a choice is compared with first.
    fn bound_s(&self, choice: &Choice) -> f64 {
        let of_any = || choice.problem.any_algorithm_bound();
        if self.prepared.keeps_steps() { choice.bound() } else { of_any() }.seconds
    }

    fn on_pieces(&self, numbers: &[OperatingPoint], bound: bool) -> Result<Evaluation> {
        let envelope = Envelope::of(numbers, |at| self.best_at(at))?;
        let pieces = envelope.pieces.iter().map(|piece| &piece.choice);
        let choices: Vec<u32> = pieces.clone().map(|choice| index_in(&self.names, names_of(choice))).collect();
        let topologies: Vec<u32> = pieces.map(|choice| index_in(&self.topologies, topologies_of(choice))).collect();
        let (total_s, reconfigurations) = envelope.times(numbers).into_iter().unzip();
        let bound_at = |(at, &piece): (&OperatingPoint, &usize)| {
            let choice = &envelope.pieces[piece].choice;
            // A bound on the planner's own class holds where it was made.
            Ok(match choice.class_bound {
                Some(_) if self.prepared.keeps_steps() => self.bound_s(&self.best_at(at)?),
                _ => self.bound_s(&Choice { problem: choice.problem.at(at), ..choice.clone() }),
            })
        };
        let bounds = || numbers.par_iter().zip(&envelope.of_point).interruptible().map(bound_at).collect::<Result<_>>();
        Ok(Evaluation {
            total_s,
            reconfigurations,
            choice: envelope.of_point.iter().map(|&piece| choices[piece]).collect(),
            lower_bound_s: bound.then(bounds).transpose()?,
            never_change_s: None,
            topologies: envelope.of_point.iter().map(|&piece| topologies[piece]).collect(),
            never_change: None,
        })
    }

    fn one_by_one(&self, numbers: &[OperatingPoint], bound: bool) -> Evaluation {
        let is_open = self.prepared.composes() && self.prepared.request().never_changes().is_none();
        let figures = |at: &OperatingPoint| {
            let (choice, unchanging) = if is_open {
                let (choice, unchanging) = self.prepared.with_unchanging_at(at);
                (choice, unchanging.ok())
            } else {
                (self.best_at(at), None)
            };
            let choice = choice.ok()?;
            Some(Figures {
                never_change_s: unchanging.as_ref().map_or(f64::NAN, |choice| choice.total_s),
                never_change: unchanging.map(|choice| (names_of(&choice), topologies_of(&choice))),
                total_s: choice.total_s,
                reconfigurations: choice.reconfigurations() as u32,
                names: names_of(&choice),
                topologies: topologies_of(&choice),
                lower_bound_s: if bound { self.bound_s(&choice) } else { f64::NAN },
            })
        };
        let found: Vec<Option<Figures>> = numbers.par_iter().interruptible().map(figures).collect();
        let seconds = |of: fn(&Figures) -> f64| -> Vec<f64> {
            found.iter().map(|one| one.as_ref().map_or(f64::NAN, of)).collect()
        };
        let places = |of: &dyn Fn(&Figures) -> Option<u32>| -> Vec<u32> {
            found.iter().map(|one| one.as_ref().and_then(of).unwrap_or(Evaluation::NOTHING)).collect()
        };
        let name = |names: &(String, String)| Some(index_in(&self.names, names.clone()));
        let circuits = |topologies: &String| Some(index_in(&self.topologies, topologies.clone()));
        let (choice, topologies) = (places(&|one| name(&one.names)), places(&|one| circuits(&one.topologies)));
        let unchanging = || {
            let names = places(&|one| one.never_change.as_ref().and_then(|(names, _)| name(names)));
            (names, places(&|one| one.never_change.as_ref().and_then(|(_, topologies)| circuits(topologies))))
        };
        Evaluation {
            total_s: seconds(|one| one.total_s),
            reconfigurations: found.iter().map(|one| one.as_ref().map_or(0, |one| one.reconfigurations)).collect(),
            choice,
            lower_bound_s: bound.then(|| seconds(|one| one.lower_bound_s)),
            never_change_s: is_open.then(|| seconds(|one| one.never_change_s)),
            topologies,
            never_change: is_open.then(unchanging),
        }
    }
}

/// The index of the value among those that are known, to which it is added where it is missing.
fn index_in<T: PartialEq>(known: &Mutex<Vec<T>>, value: T) -> u32 {
    let mut all = known.lock().unwrap_or_else(PoisonError::into_inner);
    let place = all.iter().position(|other| *other == value).unwrap_or_else(|| {
        all.push(value);
        all.len() - 1
    });
    place as u32
}

/// The figures of the choice at one point.
struct Figures {
    total_s: f64,
    reconfigurations: u32,
    names: (String, String),
    topologies: String,
    lower_bound_s: f64,
    never_change_s: f64,
    never_change: Option<((String, String), String)>,
}

/// Planner and algorithm.
fn names_of(choice: &Choice) -> (String, String) {
    (choice.planner.into(), choice.problem.schedule().algorithm().into())
}

/// Topologies in the order of the steps, `ring → complete`: a plan that goes through many is told by its first ones.
fn topologies_of(choice: &Choice) -> String {
    let mut used = choice.candidates.clone();
    used.dedup();
    let names = used.iter().take(MOST_NAMED).map(|&index| choice.problem.table.candidate(index).name().to_string());
    let more = (used.len() > MOST_NAMED).then(|| "…".to_string());
    names.chain(more).collect::<Vec<_>>().join(" → ")
}

impl Points<'_> {
    fn numbers(&self) -> Result<Vec<OperatingPoint>> {
        let points = self.size_bytes.len();
        let others = [
            ("bandwidth", self.bandwidth_bps),
            ("startup", self.startup_s),
            ("hop_delay", self.hop_delay_s),
            ("reconfiguration_delay", self.reconfiguration_delay_s),
        ];
        for (field, values) in others {
            if values.len() != points {
                let accepts = format!("as many values as there are sizes, {points}");
                return Err(Error::value(field, format!("{} values", values.len()), accepts));
            }
        }
        let one = |point: usize| {
            let numbers = OperatingPoint {
                size_bytes: units::size_from_f64("size", self.size_bytes[point])?,
                bandwidth_bps: self.bandwidth_bps[point],
                startup_s: self.startup_s[point],
                hop_delay_s: self.hop_delay_s[point],
                reconfiguration_delay_s: self.reconfiguration_delay_s[point],
            };
            numbers.check()?;
            Ok(numbers)
        };
        (0..points).map(one).collect()
    }
}
