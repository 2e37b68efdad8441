//! One switch per port of the GPUs, each of which joins that port of all GPUs.
//!
//! Port k of every GPU is on switch k, GPU g on its port g + 1: ingress by its transmitter, egress by its receiver. A
//! switch carries a matching, and a topology of d ports is d of them ([`crate::parallel`]). Where the fabric has delays
//! by port, they are those of the switches.

use model::{Connection, Fabric, Result, Shape, Switch};

use crate::charge::{SwitchChange, charged_s};
use crate::cutoffs::kinds_parallel::LEAST_WEIGHT;
use crate::held::Held;
use crate::kind::{Assignment, Kind, PortMap, takes_none};
use crate::parallel::{Colouring, Cost, DARK, decompose};

/// A switch per port.
pub(super) struct Parallel;

impl Kind for Parallel {
    fn name(&self) -> &'static str {
        "parallel"
    }

    fn parameters(&self) -> &'static str {
        ""
    }

    fn summary(&self) -> &'static str {
        "a switch for each port of the GPUs"
    }

    fn source(&self) -> &'static str {
        "ports on switches of their own, docs/cost-model.md; König 1916"
    }

    fn numbering(&self) -> &'static str {
        "transmitter p of GPU g is at ingress port g + 1 of switch port-p, receiver p at the egress port of that \
        number (p and g from 0)"
    }

    fn check(&self, parameters: &str) -> Result<()> {
        takes_none(self.name(), parameters)
    }

    fn port_map(&self, _parameters: &str, shape: &Shape) -> Result<PortMap> {
        let switch = |port: u32| Switch { name: format!("port-{port}"), ports: shape.fabric_gpus() };
        let ends: Vec<String> = (0..shape.fabric_gpus()).map(|gpu| gpu.to_string()).collect();
        let switches: Vec<Switch> = (0..shape.ports()).map(switch).collect();
        Ok(PortMap { ends: vec![ends; switches.len()], switches })
    }

    fn place(&self, _shape: &Shape, gpu: u32, port: u32) -> Option<(usize, u32)> {
        Some((port as usize, gpu + 1))
    }

    fn holds_all(&self) -> bool {
        true
    }

    fn assign(&self, _parameters: &str, fabric: &Fabric, held: &[Held]) -> Result<Assignment> {
        let delays_s = fabric.reconfiguration.delay().terms().by_port_s;
        let ports = fabric.shape.ports() as usize;
        let mut slowest_first: Vec<usize> = (0..ports).collect();
        let mut weights = vec![1.0; ports];
        if delays_s.len() == ports {
            slowest_first.sort_by(|&one, &other| delays_s[other].total_cmp(&delays_s[one]));
            let slowest_s = delays_s.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
            weights.iter_mut().zip(delays_s).for_each(|(weight, delay_s)| *weight = LEAST_WEIGHT + delay_s / slowest_s);
        }
        let judge = |place: usize, before: &Colouring, after: &Colouring| {
            let changes = changes(before, after);
            let charge_s = held[place].change.map_or(0.0, |planned| charged_s(fabric, planned, &changes));
            let weighted = changes.iter().zip(&weights).map(|(change, weight)| change.connects as f64 * weight).sum();
            Cost { charge_s, weighted }
        };
        let topologies: Vec<_> = held.iter().map(|held| held.topology).collect();
        let policy = &fabric.reconfiguration;
        // A single delay for all changes is charged for every change.
        let charges_vary = policy.runs_in_background() || policy.delay().constant_s().is_none();
        let decomposed = decompose(&topologies, &slowest_first, &weights, charges_vary, &judge);
        let connections = decomposed
            .colourings
            .iter()
            .map(|colouring| colouring.out.iter().map(|out| joined(&fabric.shape, out)).collect());
        Ok(Assignment { connections: connections.collect(), least_connects: decomposed.least_connects })
    }
}

/// The changes on every switch.
fn changes(before: &Colouring, after: &Colouring) -> Vec<SwitchChange> {
    (0..after.out.len())
        .map(|switch| {
            let mut change = SwitchChange::default();
            for (src, (&had, &has)) in before.out[switch].iter().zip(&after.out[switch]).enumerate() {
                change.was_lit |= had != DARK;
                change.is_lit |= has != DARK;
                if had == has {
                    continue;
                }
                change.transmitters += 1;
                if has != DARK {
                    change.connects += 1;
                    let was_lit = before.into[switch][has as usize] != DARK;
                    change.moves_lit |= was_lit || before.out[switch][src] != DARK;
                }
            }
            change
        })
        .collect()
}

/// The connections of one switch, sorted by ingress.
fn joined(shape: &Shape, out: &[u32]) -> Vec<Connection> {
    let lit = (0..).zip(out).filter(|(_, dst)| **dst != DARK);
    let port = |rank| shape.gpu_of(rank) + 1;
    let mut joined: Vec<_> = lit.map(|(src, &dst)| Connection { ingress: port(src), egress: port(dst) }).collect();
    joined.sort_unstable();
    joined
}
