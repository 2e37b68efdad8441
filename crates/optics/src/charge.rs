//! The charges of changes of ports, by the rule of the plan, for the changes that really happen.

use std::collections::BTreeSet;

use model::{Connection, Fabric, Reconfiguration, SwitchSetting};

use crate::held::PlannedChange;

/// The changes on one switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct SwitchChange {
    /// Connections that are set up.
    pub connects: u64,
    /// Transmitters that are joined to another receiver than before, or to none, or now to one.
    pub transmitters: u64,
    /// Whether anything was joined before.
    pub was_lit: bool,
    /// Whether anything is joined after it.
    pub is_lit: bool,
    /// Whether a port that was joined before is joined to another.
    pub moves_lit: bool,
}

impl SwitchChange {
    /// From connections to a setting.
    pub fn of(before: &[Connection], setting: &SwitchSetting) -> Self {
        let changed = setting.connect.iter().chain(&setting.disconnect);
        let transmitters: BTreeSet<u32> = changed.map(|connection| connection.ingress).collect();
        let lit: [BTreeSet<u32>; 2] =
            [before.iter().map(|one| one.ingress).collect(), before.iter().map(|one| one.egress).collect()];
        let moves = |one: &Connection| lit[0].contains(&one.ingress) || lit[1].contains(&one.egress);
        Self {
            connects: setting.connect.len() as u64,
            transmitters: transmitters.len() as u64,
            was_lit: !before.is_empty(),
            is_lit: !setting.connections.is_empty(),
            moves_lit: setting.connect.iter().any(moves),
        }
    }
}

/// Whether each switch has a delay of its own.
fn have_own_delays(fabric: &Fabric, switches: &[SwitchChange]) -> bool {
    let delays = fabric.reconfiguration.delay().terms().by_port_s.len();
    delays > 0 && delays == switches.len()
}

/// Whether a change, by switch, can be made while the step before runs: what the plan makes in the background stays
/// there as long as what is set up finds dark ports, on one switch where each has a delay of its own.
pub(crate) fn in_background(fabric: &Fabric, planned: PlannedChange, switches: &[SwitchChange]) -> bool {
    if !have_own_delays(fabric, switches) {
        return planned.in_background && switches.iter().all(|switch| !switch.moves_lit);
    }
    let set_up = switches.iter().filter(|switch| switch.connects > 0);
    let mut changing = switches.iter().filter(|switch| switch.transmitters > 0);
    fabric.reconfiguration.runs_in_background()
        && set_up.count() <= 1
        && changing.all(|switch| !(switch.was_lit && switch.is_lit))
}

/// Seconds charged for a change, by switch, that the plan makes before a step.
///
/// A delay per port counts transmitters that change; of delays by port the slowest switch that changes counts.
pub(crate) fn charged_s(fabric: &Fabric, planned: PlannedChange, switches: &[SwitchChange]) -> f64 {
    let policy = &fabric.reconfiguration;
    let terms = policy.delay().terms();
    let own_delays = have_own_delays(fabric, switches);
    let in_background = in_background(fabric, planned, switches);
    let is_slow = |switch: &SwitchChange| if in_background { switch.connects > 0 } else { switch.transmitters > 0 };
    let ports: u64 =
        switches.iter().map(|switch| if in_background { switch.connects } else { switch.transmitters }).sum();
    let slowest_s = match terms.by_port_s {
        delays_s if own_delays => {
            let changing = delays_s.iter().zip(switches).filter(|(_, switch)| is_slow(switch));
            changing.map(|(&delay_s, _)| delay_s).fold(0.0, f64::max)
        }
        delays_s => delays_s.iter().copied().fold(0.0, f64::max),
    };
    let delay_s = if ports == 0 { 0.0 } else { terms.fixed_s + terms.per_port_s * ports as f64 + slowest_s };
    policy.charge_s(Reconfiguration { delay_s, in_background }, planned.step, planned.before_s)
}
