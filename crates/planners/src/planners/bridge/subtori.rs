//! BRIDGE on a torus (§5): Bruck's pattern round the dimensions on *subtori*.
//!
//! In round k of `bruck-torus` rank u sends to the ranks z·r^k ahead along its dimensions, each with a part of the
//! buffer. Subrings of offset r^k along every dimension form subtori, one per combination of residues, on which all
//! later rounds take place: one change of topology brings the peers nearer along all dimensions at once, so that of n =
//! a^D ranks log_r a − 1 changes make every later step direct where a ring takes D·log_r a − 1.
//!
//! The class: along every dimension j an offset r^k of its own or no circuits, the ports divided evenly over the peers
//! of the dimensions that have some. With ⌈log_r n_j⌉ offsets these are Π_j (⌈log_r n_j⌉ + 1) − 1 topologies, and a
//! given start. Which of them each step runs on is a shortest path over (step, topology), exact for charges that are
//! constant or depend on the two topologies, where one dimension may change by itself or all at once. Where sizes are
//! no powers of r, an offset may serve steps of shorter distances too, which the paper's segments leave out.
//!
//! Circuits one way are enough: with sizes that are powers of two, a ring of two parallel circuits is loaded with d/2
//! by a step of distance d, and a ring both ways of size s with d·(s − d)/s ≥ d/2, over as many hops.

use model::{Digit, Link, Result, Schedule, Step, Topology, Translations, show_generators};

use super::refusals::{check_ports, refuse};
use super::segments::{Cut, StepInterval, cheapest_cuts};
use super::step_time::step_s;
use crate::Problem;

/// Meaning of the names of topologies with circuits along some dimensions.
pub(crate) const NAME: (&str, &str) = (
    "[A]x[B]xC:P1,P2;Q^2",
    "GPUs in a grid, last dimension fastest: circuits P1 and P2 places ahead along the first dimension in brackets and \
     Q along the second, each of which wraps round; Q^2: two circuits in parallel",
);

/// Bruck's pattern round the dimensions of a torus.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TorusPattern {
    /// The dimensions, the last running fastest.
    dims: Vec<Digit>,
    /// By dimension, for each offset r^k the peers z·r^k, in places ahead.
    peers: Vec<Vec<Vec<u32>>>,
}

/// z·power for z = 1 … radix − 1, below `size`.
fn peers(size: u32, radix: u32, power: u32) -> Vec<u32> {
    (1..radix).filter_map(|z| z.checked_mul(power)).take_while(|&places| places < size).collect()
}

impl TorusPattern {
    /// The pattern of `schedule` on a torus of these dimensions, if it has one. O(steps · peers · radix).
    fn of(schedule: &Schedule, sizes: &[u32]) -> Option<Self> {
        let steps = schedule.steps();
        let symmetry = steps.first()?.symmetry();
        if !symmetry.is_transitive() || steps.iter().any(|step| step.traffic().symmetry() != symmetry) {
            return None;
        }
        let dims: Vec<Digit> = symmetry.digits().iter().rev().copied().collect();
        if !dims.iter().map(|dim| dim.radix).eq(sizes.iter().copied()) {
            return None;
        }
        let most_peers = steps.iter().map(|step| step.traffic().arcs().len() as u32).max()?;
        (2..=most_peers + 1).find_map(|radix| Self::with_radix(steps, &dims, radix))
    }

    fn with_radix(steps: &[Step], dims: &[Digit], radix: u32) -> Option<Self> {
        let longest = dims.iter().map(|dim| dim.radix).max()?;
        let powers = std::iter::successors(Some(1u32), |power| power.checked_mul(radix));
        let powers: Vec<u32> = powers.take_while(|&power| power < longest).collect();
        // A round has a step for every dimension that has its digit.
        let dims_of = |power: u32| dims.iter().filter(|dim| power < dim.radix).count();
        let rising: Vec<u32> = powers.iter().flat_map(|&power| std::iter::repeat_n(power, dims_of(power))).collect();
        let falling: Vec<u32> = rising.iter().rev().copied().collect();
        let goes = |run: &[Step], order: &[u32]| {
            run.len() == order.len() && run.iter().zip(order).all(|(step, &power)| sends_to(step, dims, radix, power))
        };
        if !steps.chunks(rising.len()).all(|run| goes(run, &rising) || goes(run, &falling)) {
            return None;
        }
        let along = |dim: &Digit| {
            powers.iter().filter(|&&power| power < dim.radix).map(|&power| peers(dim.radix, radix, power)).collect()
        };
        Some(Self { peers: dims.iter().map(along).collect(), dims: dims.to_vec() })
    }

    /// Every topology of the class on this many ports.
    fn topologies(&self, symmetry: &Translations, ports: u32) -> Result<Vec<Topology>> {
        let mut choices: Vec<Vec<Option<&[u32]>>> = vec![Vec::new()];
        for along in &self.peers {
            let options = || along.iter().map(|peers| Some(&peers[..])).chain([None]);
            choices = choices.iter().flat_map(|so_far| options().map(|next| [&so_far[..], &[next]].concat())).collect();
        }
        let mut topologies = Vec::with_capacity(choices.len());
        for choice in choices {
            interruption::check();
            let degree: u32 = choice.iter().flatten().map(|peers| peers.len() as u32).sum();
            if degree == 0 || degree > ports {
                continue;
            }
            let count = ports / degree;
            let lit = self.dims.iter().zip(&choice).filter_map(|(dim, peers)| Some((dim, (*peers)?)));
            let link = |dim: Digit| move |&places: &u32| Link { src: 0, dst: places * dim.stride, count };
            let links = lit.flat_map(|(dim, peers)| peers.iter().map(link(*dim)));
            topologies.push(Topology::new(self.name(&choice, count), symmetry.clone(), links)?);
        }
        Ok(topologies)
    }

    /// `torus:8x8,one-way` and `shifted-torus:8x8:2,2,one-way`, as these are built with all ports; `8x[8]:2^2` and
    /// the like where dimensions have several peers or none.
    fn name(&self, choice: &[Option<&[u32]>], count: u32) -> String {
        let sizes: Vec<String> = self.dims.iter().map(|dim| dim.radix.to_string()).collect();
        let offsets: Vec<u32> =
            choice.iter().filter_map(|peers| peers.filter(|peers| peers.len() == 1).map(|peers| peers[0])).collect();
        if offsets.len() == self.dims.len() && self.dims.len() > 1 {
            if offsets.iter().all(|&offset| offset == 1) {
                return format!("torus:{},one-way", sizes.join("x"));
            }
            let offsets: Vec<String> = offsets.iter().map(u32::to_string).collect();
            return format!("shifted-torus:{}:{},one-way", sizes.join("x"), offsets.join(","));
        }
        let bracketed = sizes.iter().zip(choice).map(|(size, peers)| match peers {
            Some(_) => format!("[{size}]"),
            None => size.clone(),
        });
        let parallel = |places: &u32| std::iter::repeat_n(i64::from(*places), count as usize);
        let circuits = choice.iter().flatten().map(|peers| show_generators(peers.iter().flat_map(parallel)));
        format!("{}:{}", bracketed.collect::<Vec<_>>().join("x"), circuits.collect::<Vec<_>>().join(";"))
    }
}

/// Whether rank 0 sends in `step` along some dimensions, along each of them to all of its peers of offset `power`.
fn sends_to(step: &Step, dims: &[Digit], radix: u32, power: u32) -> bool {
    let mut found: Vec<u32> = step.traffic().arcs().iter().map(|arc| arc.dst).collect();
    found.sort_unstable();
    let lit = dims.iter().filter(|dim| power < dim.radix && found.contains(&(power * dim.stride)));
    let along = |&Digit { stride, radix: size }: &Digit| {
        peers(size, radix, power).into_iter().map(move |places| places * stride)
    };
    let mut expected: Vec<u32> = lit.flat_map(along).collect();
    expected.sort_unstable();
    !found.is_empty() && found == expected
}

/// The problem on subtori and the initial topology.
pub(super) struct Subtori {
    pub(super) problem: Problem,
}

impl Subtori {
    /// `given` on the class; `None` where its schedule is not Bruck's pattern on a torus of two or three dimensions.
    ///
    /// # Errors
    /// More peers in a step than ports, or blocks of GPUs behind two optical ports.
    pub(super) fn of(block: u32, given: &Problem) -> Result<Option<Self>> {
        let sizes = given.fabric.shape.dims();
        let pattern = (2..=3).contains(&sizes.len()).then(|| TorusPattern::of(given.schedule(), sizes)).flatten();
        pattern.map(|pattern| Self::on(&pattern, block, given)).transpose()
    }

    fn on(pattern: &TorusPattern, block: u32, given: &Problem) -> Result<Self> {
        let schedule = given.schedule();
        check_ports(given)?;
        if block > 1 {
            return refuse(
                "with fewer than two optical ports per GPU it takes algorithms along a line of GPUs, not a torus"
                    .into(),
            );
        }
        let topologies = pattern.topologies(schedule.steps()[0].symmetry(), given.fabric.shape.ports())?;
        Ok(Self { problem: given.with(schedule.clone(), given.settings, topologies)? })
    }

    /// The cheapest sequence of topologies for each number of reconfigurations.
    pub(super) fn cuts(&self) -> Vec<Option<Cut>> {
        let rates = self.problem.rates();
        let (steps, candidates) = (self.problem.schedule().steps().len(), self.problem.table.candidates());
        let one_step = |begin: usize, topology: usize| {
            let steps_s = step_s(&self.problem, &rates, begin, topology);
            StepInterval { begin, end: begin + 1, topology, steps_s }
        };
        let pairs = (0..steps).flat_map(|step| (0..candidates).map(move |topology| (step, topology)));
        let segments: Vec<StepInterval> = pairs
            .map(|(step, topology)| one_step(step, topology))
            .filter(|segment| segment.steps_s.is_finite())
            .collect();
        let change = self.problem.change();
        let change_s = |from, to| change.between(candidates, from, to);
        cheapest_cuts(&segments, steps, candidates, self.problem.start, change_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use collectives::Options;
    use model::{Collective, CostSettings, Fabric, Initial, ReconfigurationPolicy, Shape};

    use crate::find;

    fn pattern(algorithm: &str, collective: Collective, dims: &[u32], radix: u32) -> Option<TorusPattern> {
        let shape = Shape::new(dims.iter().product(), dims, 1).unwrap();
        let options = Options { radix: Some(radix), ..Options::default() };
        let schedule = collectives::find(algorithm).unwrap().build(collective, &shape, &options).unwrap();
        TorusPattern::of(&schedule, dims)
    }

    #[test]
    fn rounds_are_recognised_along_any_dimensions() {
        for dims in [&[4, 4][..], &[2, 8], &[3, 5], &[6, 9], &[2, 3, 4], &[4, 4, 4]] {
            for radix in 2..=4 {
                for &collective in collectives::find("bruck-torus").unwrap().collectives() {
                    let found = pattern("bruck-torus", collective, dims, radix);
                    let found = found.unwrap_or_else(|| panic!("{collective:?} {dims:?} {radix}"));
                    assert!(found.dims.iter().map(|dim| dim.radix).eq(dims.iter().copied()));
                    let first: Vec<usize> = found.peers.iter().map(|along| along[0].len()).collect();
                    let expected = dims.iter().map(|&size| (radix.min(size) - 1) as usize);
                    assert!(first.into_iter().eq(expected), "{collective:?} {dims:?} {radix}: {found:?}");
                }
            }
        }
        assert_eq!(pattern("bucket", Collective::ReduceScatter, &[4, 4], 2), None);
        assert_eq!(pattern("swing", Collective::AllReduce, &[4, 4], 2), None);
    }

    /// 4×4 on two ports: both dimensions at offsets 1 or 2, or one of them with both ports.
    #[test]
    fn the_class_is_every_choice_of_offsets() {
        let shape = Shape::new(16, &[4, 4], 2).unwrap();
        let algorithm = collectives::find("bruck-torus").unwrap();
        let schedule = algorithm.build(Collective::AllToAll, &shape, &Options::default()).unwrap();
        let found = TorusPattern::of(&schedule, &[4, 4]).unwrap();
        let topologies = found.topologies(schedule.steps()[0].symmetry(), 2).unwrap();
        let names: Vec<&str> = topologies.iter().map(Topology::name).collect();
        assert_eq!(
            names,
            [
                "torus:4x4,one-way",
                "shifted-torus:4x4:1,2,one-way",
                "[4]x4:1^2",
                "shifted-torus:4x4:2,1,one-way",
                "shifted-torus:4x4:2,2,one-way",
                "[4]x4:2^2",
                "4x[4]:1^2",
                "4x[4]:2^2",
            ]
        );
        for topology in topologies.iter().filter(|topology| topology.name().contains("torus")) {
            assert!(topologies::build(topology.name(), &shape).unwrap().same_links(topology));
        }
        assert!(topologies.iter().all(|topology| topology.degree() == 2));
    }

    /// On a line of a power of two the class is the paper's subrings, and the plans are those of the ring, to the bit.
    /// On others, offsets lead to all ranks and serve earlier steps too, which may be faster.
    #[test]
    fn one_dimension_has_the_plans_of_the_ring() {
        let algorithms = [
            ("bruck", Collective::AllToAll),
            ("bruck-doubling", Collective::ReduceScatter),
            ("bruck-doubling", Collective::AllGather),
            ("bruck-doubling", Collective::AllReduce),
        ];
        for (name, collective) in algorithms {
            for gpus in [2, 4, 5, 8, 12, 16, 64, 100, 128] {
                for delay_s in [0.0, 1e-6, 1e-5, 1e-4, 1e-2] {
                    for ports in [1, 2] {
                        let shape = Shape::new(gpus, &[], ports).unwrap();
                        let algorithm = collectives::find(name).unwrap();
                        let schedule = algorithm.build(collective, &shape, &Options::default()).unwrap();
                        let pattern = TorusPattern::of(&schedule, &[gpus]).unwrap();
                        let ring = topologies::build("ring", &shape).unwrap();
                        let fabric = Fabric {
                            shape,
                            bandwidth_bps: 8e11,
                            startup_s: 5e-7,
                            barrier_s: 0.0,
                            hop_delay_s: 5e-7,
                            reconfiguration: ReconfigurationPolicy::constant(delay_s),
                            initial: Initial::Free,
                            optics: None,
                            electrical: None,
                        };
                        let settings = CostSettings::default();
                        let problem = Problem::new(schedule, fabric, settings, 1 << 24, vec![ring]).unwrap();
                        let subtori = Subtori::on(&pattern, 1, &problem).unwrap();
                        let cuts = subtori.cuts().into_iter().flatten();
                        let best = cuts.min_by(|a, b| a.total_s.total_cmp(&b.total_s)).unwrap();
                        let on_ring = find("bridge").unwrap().choose(&problem).unwrap();
                        let on_ring = on_ring.problem.total_s(&on_ring.candidates).unwrap();
                        let found = subtori.problem.total_s(&best.topologies).unwrap();
                        let case = format!("{name} {collective:?} {gpus} {delay_s} {ports}: {found} {on_ring}");
                        assert!(found <= on_ring, "{case}");
                        assert!(found == on_ring || !gpus.is_power_of_two(), "{case}");
                    }
                }
            }
        }
    }
}
