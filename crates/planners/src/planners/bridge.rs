//! BRIDGE: Bruck's steps on the ring and on subrings that later steps use again.
//!
//! In step k rank u sends to u + 2^k. The circuits u → u + 2^k are the *subrings* of offset 2^k, one per residue
//! class; on them a step of distance 2^(k+j) takes 2^j hops and loads each circuit 2^j times, so that steps after
//! a reconfiguration gain as well (§3.1, §3.2). A vector says before which steps the fabric is reconfigured, and
//! with distances that rise to which subrings: the step's own (algorithm 1). With distances that fall, as in an
//! AllGather, a segment between two reconfigurations runs on the subrings of its last step, the only ones
//! that serve all of it (§3.5). So the segments determine the topologies, and the best of all 2^s vectors is the
//! cheapest cut of the steps into segments, found exactly in O(s⁴):
//!
//! - All-to-All: segments whose lengths differ by at most one (lemma 3.1, theorem 3.2 without its assumption
//!   that R + 1 divides s), C = s·α + (δ + β·m/2)·Σ (2^length − 1) + R·α_r;
//! - ReduceScatter: where only transmission counts the interval program of theorem 3.3, early segments short,
//!   and else what the time asks for, where §3.6 takes the better of the transmission's and the latency's
//!   optimum;
//! - AllGather the reverse of that, and AllReduce both, each with a vector of its own; the fabric is not
//!   reconfigured between the two where the subrings are the same;
//! - the best R is that of the least time (§3.6). n and the radix are arbitrary.
//!
//! *Several ports* (§3.1): the r − 1 distances z·r^k of a step of radix r ≤ ports + 1 each have their circuits, the
//! ports divided evenly; *mirrored* copies (§5, `bruck-mirrored`) have circuits both ways. Paths follow
//! the problem's settings; with one port every path is unique.
//!
//! *The start.* With a free start ReduceScatter and All-to-All start in the ring, their first step's own, and
//! AllGather in the subrings that it needs, all at no charge, as the paper has it. With a given start, which the
//! first steps may go on using, any other first topology is charged for, an AllGather's too.
//!
//! *Fewer than 2n optical ports* (§3.7): see [`Bridge::with_optical_ports`].
//!
//! *Tori* (§5): Bruck's pattern round the dimensions of a torus runs on subtori, see [`subtori`].

mod pattern;
mod refusals;
mod segments;
mod step_time;
mod subtori;

use model::{Error, Result, Topology, show_generators};

use crate::{Capabilities, Choice, LeastSum, Planner, Problem};
use pattern::{Pattern, Run};
use refusals::{NAME, check_ports, refuse};
use segments::{Cut, StepInterval, cheapest_cuts};
use step_time::step_s;
pub(crate) use subtori::NAME as SUBTORI_NAME;
use subtori::Subtori;

/// BRIDGE's planner, for GPUs that all have optical ports or for blocks of GPUs behind two of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bridge {
    /// GPUs of a block behind two optical ports.
    block: u32,
}

impl Bridge {
    /// Every GPU has its own optical ports.
    pub const EVERY_GPU: Self = Self { block: 1 };

    /// `gpus` GPUs with `optical_ports` < 2·`gpus` optical ports, counted in both directions (§3.7). Blocks of
    /// ⌈2·gpus/optical_ports⌉ consecutive GPUs, lines of static electrical links, share a port at either end: a
    /// subring of offset 2^k, a multiple of the block, joins the end of each block to the start of the block
    /// 2^k ranks ahead, and a step of that distance takes as many hops as a block has GPUs. Before steps of
    /// another distance there is nothing to reconfigure. Radix 2, one way.
    ///
    /// # Errors
    /// Fewer than two optical ports, or blocks that do not divide the GPUs into two or more.
    pub fn with_optical_ports(gpus: u32, optical_ports: u32) -> Result<Self> {
        let block = if optical_ports < 2 { gpus } else { gpus.saturating_mul(2).div_ceil(optical_ports).max(1) };
        if block >= gpus || !gpus.is_multiple_of(block) {
            let accepts =
                format!("a number P for which blocks of ⌈2·{gpus}/P⌉ GPUs divide the {gpus} GPUs into two or more");
            return Err(Error::value("optical_ports", optical_ports, accepts));
        }
        Ok(Self { block })
    }

    /// GPUs of a block, 1 where every GPU has its own optical ports.
    pub fn block(&self) -> u32 {
        self.block
    }

    /// The best choice with exactly this many charged reconfigurations, as in the paper's table 1; `None` if there is
    /// no such choice.
    ///
    /// # Errors
    /// As [`Planner::choose`].
    pub fn choose_with(&self, problem: &Problem, reconfigurations: usize) -> Result<Option<Choice>> {
        let (own, cuts) = cheapest_by_number(self.block, problem)?;
        let cut = cuts.into_iter().nth(reconfigurations).flatten();
        Ok(cut.map(|cut| choice(own, cut)))
    }
}

impl Planner for Bridge {
    fn name(&self) -> &'static str {
        NAME
    }

    fn summary(&self) -> &'static str {
        "Bruck's steps on the ring and reusable subrings, reconfiguring where it pays"
    }

    fn source(&self) -> &'static str {
        "BRIDGE §3, algorithm 1, theorems 3.2 and 3.3"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            takes_candidates: false,
            takes_optical_ports: true,
            least_sum: LeastSum::Always,
            ..Capabilities::default()
        }
    }

    fn choose_within(&self, problem: &Problem, limit_s: f64) -> Result<Option<Choice>> {
        let block = match problem.options.optical_ports {
            Some(optical_ports) => Self::with_optical_ports(problem.fabric.shape.gpus(), optical_ports)?.block,
            None => self.block,
        };
        let (own, cuts) = cheapest_by_number(block, problem)?;
        // The first of equals: fewest reconfigurations.
        let best = cuts.into_iter().flatten().min_by(|a, b| a.total_s.total_cmp(&b.total_s));
        let best = best.ok_or_else(|| Error::infeasible("planner", "no subrings serve every step"))?;
        Ok((best.total_s <= limit_s).then(|| choice(own, best)))
    }
}

/// The problem on the topologies of its pattern, and the cheapest cut for each number of reconfigurations.
fn cheapest_by_number(block: u32, given: &Problem) -> Result<(Problem, Vec<Option<Cut>>)> {
    if let Some(subtori) = Subtori::of(block, given)? {
        let cuts = subtori.cuts();
        return Ok((subtori.problem, cuts));
    }
    let subrings = Subrings::new(block, given)?;
    let cuts = subrings.cuts();
    Ok((subrings.problem, cuts))
}

fn choice(problem: Problem, cut: Cut) -> Choice {
    Choice { planner: NAME, problem, candidates: cut.topologies, total_s: cut.total_s, class_bound: None }
}

/// The problem on the ring, the subrings and the initial topology.
struct Subrings {
    problem: Problem,
    runs: Vec<Run>,
    /// Candidate of each step's own circuits, where there are any.
    own: Vec<Option<usize>>,
}

impl Subrings {
    fn new(block: u32, given: &Problem) -> Result<Self> {
        let schedule = given.schedule();
        let Some(pattern) = Pattern::of(schedule) else {
            let reason = "it takes Bruck's pattern: every rank u sends to u + z·r^k, z = 1 … r−1, with k rising or falling \
                          (algorithms bruck, bruck-doubling, bruck-mirrored, recursive-doubling, dissemination; bruck-torus \
                          along the dimensions of a torus)";
            return refuse(reason.into());
        };
        check_ports(given)?;
        let ports = given.fabric.shape.ports();
        if block > 1 && !pattern.is_single {
            return refuse(
                "with fewer than two optical ports per GPU it takes algorithms of radix 2 that send in one direction"
                    .into(),
            );
        }
        let mut topologies: Vec<Topology> = Vec::new();
        let mut own = Vec::with_capacity(pattern.distances.len());
        for (step, &distance) in schedule.steps().iter().zip(&pattern.distances) {
            let circuits = if block == 1 {
                Topology::of_traffic("", step.traffic(), ports).map(named)
            } else if distance == 1 || distance % block == 0 {
                let offset = distance.div_ceil(block);
                Some(topologies::build(&format!("block-ring:{block},{offset}"), &given.fabric.shape)?)
            } else {
                None
            };
            own.push(circuits.map(|circuits| {
                topologies.iter().position(|topology| topology.same_links(&circuits)).unwrap_or_else(|| {
                    topologies.push(circuits);
                    topologies.len() - 1
                })
            }));
        }
        let problem = given.with(schedule.clone(), given.settings, topologies)?;
        Ok(Self { problem, runs: pattern.runs, own })
    }

    /// Every segment of the paper's class, with its topology.
    fn segments(&self) -> Vec<StepInterval> {
        let rates = self.problem.rates();
        let mut segments = Vec::new();
        // Steps from `from` on, one by one in the direction of `steps`, for as long as the topology serves them.
        let mut extend = |topology: usize, steps: &mut dyn Iterator<Item = usize>| {
            let mut reached: Option<StepInterval> = None;
            for step in steps {
                let steps_s =
                    reached.map_or(0.0, |segment| segment.steps_s) + step_s(&self.problem, &rates, step, topology);
                if steps_s.is_infinite() {
                    return;
                }
                let (begin, end) = reached.map_or((step, step + 1), |s| (s.begin.min(step), s.end.max(step + 1)));
                reached = Some(StepInterval { begin, end, topology, steps_s });
                segments.extend(reached);
            }
        };
        if let Some(start) = self.problem.start {
            extend(start, &mut (0..self.own.len()));
        }
        for Run { steps, rises } in &self.runs {
            for step in steps.clone() {
                match self.own[step] {
                    Some(own) if *rises => extend(own, &mut (step..steps.end)),
                    Some(own) => extend(own, &mut (steps.start..=step).rev()),
                    None => {}
                }
            }
        }
        segments
    }

    /// The cheapest cut for each number of reconfigurations.
    fn cuts(&self) -> Vec<Option<Cut>> {
        let (steps, candidates) = (self.own.len(), self.problem.table.candidates());
        let change = self.problem.change();
        let change_s = |from, to| change.between(candidates, from, to);
        cheapest_cuts(&self.segments(), steps, candidates, self.problem.start, change_s)
    }
}

/// The circuits of a step under the specification that builds them.
fn named(circuits: Topology) -> Topology {
    let parallel = circuits.links().iter().flat_map(|link| (0..link.count).map(|_| i64::from(link.dst)));
    let generators: Vec<i64> = parallel.collect();
    let name = match generators[..] {
        [1] => "ring".into(),
        [offset] => format!("shifted-ring:{offset}"),
        _ => format!("circulant:{}", show_generators(generators)),
    };
    circuits.renamed(name)
}
