//! Instructions for switches: which of their ports to join in which configuration, and what changes from one to the
//! next.

use std::collections::{BTreeMap, BTreeSet};

use crate::connection::Connection;
use crate::fibre_lengths::FibreDelay;
use crate::launch_power::LaserEnergy;
use crate::light::Light;
use crate::mzi_mesh::MziMesh;
use crate::{Error, Result, counted};

/// The most ports of one switch that are accepted.
pub const MAX_SWITCH_PORTS: u32 = 1 << 20;

/// A switch that joins any of its ingress ports to any of its egress ports, each to one at most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Switch {
    /// Name shown to people, no two alike.
    pub name: String,
    /// Ingress ports, and as many egress ports.
    pub ports: u32,
}

/// The connections of one switch in one configuration. All lists are sorted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SwitchSetting {
    /// All connections that the switch holds.
    pub connections: Vec<Connection>,
    /// The connections that are new.
    pub connect: Vec<Connection>,
    /// Connections of the configuration before that it does not have any more.
    pub disconnect: Vec<Connection>,
    /// Wavelength of the light of each of `connections`, or the first of its band, where the switch leads light by its
    /// wavelength; else empty.
    pub wavelengths: Vec<u32>,
}

impl SwitchSetting {
    /// The setting of these connections after those of the configuration before; nothing is before the first.
    pub fn after(before: &[Connection], mut connections: Vec<Connection>) -> Self {
        connections.sort_unstable();
        let (had, has): (BTreeSet<_>, BTreeSet<_>) = (before.iter().collect(), connections.iter().collect());
        let connect = has.difference(&had).map(|&&connection| connection).collect();
        let disconnect = had.difference(&has).map(|&&connection| connection).collect();
        Self { connections, connect, disconnect, wavelengths: Vec::new() }
    }

    /// This setting with the wavelength of each connection, where there is one.
    #[must_use]
    pub fn with_wavelengths(self, of: impl FnMut(&Connection) -> Option<u32>) -> Self {
        let wavelengths = self.connections.iter().filter_map(of).collect();
        Self { wavelengths, ..self }
    }
}

/// The events of a training iteration that a configuration is set between, by the ids of their nodes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConfigurationEvents {
    /// The last users of the ports that change: it may begin to be set when all of them have come so far.
    pub after: Vec<String>,
    /// Events that need the new circuits; none where ports go back to the resting topology.
    pub before: Vec<String>,
    /// By entry of `before`, the step of its plan from which it needs it, from 0; 0 for messages.
    pub steps: Vec<usize>,
}

/// The settings of all switches during some steps of a plan, or between some events of an iteration.
#[derive(Debug, Clone, PartialEq)]
pub struct Configuration {
    /// Index of the plan's topology that it is; of an iteration, the same number stands for the same connections.
    pub topology: usize,
    /// Indices of the plan's steps during which it is held, ascending; empty where it is left before the first step.
    pub steps: Vec<usize>,
    /// Seconds from the start of the plan's first step at which it has to begin being set.
    pub time_s: f64,
    /// The setting of each switch.
    pub switches: Vec<SwitchSetting>,
    /// The events that it is for, in an iteration; `None` in a plan, and for the first configuration.
    pub events: Option<ConfigurationEvents>,
}

/// The configurations of all switches, in the order of time.
#[derive(Debug, Clone, PartialEq)]
pub struct Circuits {
    switches: Vec<Switch>,
    configurations: Vec<Configuration>,
    light: Vec<Light>,
    mesh: Option<MziMesh>,
    energy: Option<LaserEnergy>,
    fibre_delay: Option<FibreDelay>,
}

impl Circuits {
    /// Checks that switches can do it: ports that they have, each joined to one other at most, changes that lead from
    /// each configuration to the next. Whether the circuits are those of a plan is for the verifier to say.
    ///
    /// # Errors
    /// The first place that is not so, such as `circuits.configurations[2].switches[0].connect`.
    pub fn new(switches: Vec<Switch>, mut configurations: Vec<Configuration>) -> Result<Self> {
        check_switches(&switches)?;
        if configurations.is_empty() {
            return Err(Error::malformed("circuits.configurations", "there must be at least one configuration"));
        }
        let mut before = vec![Vec::new(); switches.len()];
        let (mut time_s, mut last_step) = (f64::NEG_INFINITY, None);
        for (index, configuration) in configurations.iter_mut().enumerate() {
            let field = |name: &str| format!("circuits.configurations[{index}].{name}");
            if !configuration.time_s.is_finite() || configuration.time_s < time_s {
                let accepts = "it must be a number of seconds, at least that of the configuration before";
                return Err(Error::malformed(field("time_s"), format!("it is {}; {accepts}", configuration.time_s)));
            }
            time_s = configuration.time_s;
            for &step in &configuration.steps {
                if last_step.is_some_and(|last| step <= last) {
                    return Err(Error::malformed(field("steps"), format!("step {step} is listed after a later one")));
                }
                last_step = Some(step);
            }
            if configuration.switches.len() != switches.len() {
                let (found, expected) = (configuration.switches.len(), counted(switches.len() as u64, "switch"));
                return Err(Error::malformed(
                    field("switches"),
                    format!("it lists settings of {found}, but there are {expected}"),
                ));
            }
            for (place, (setting, switch)) in configuration.switches.iter_mut().zip(&switches).enumerate() {
                let field = |name: &str| format!("circuits.configurations[{index}].switches[{place}].{name}");
                check_joined(&field("connections"), &setting.connections, switch.ports)?;
                let wavelengths = by_connection(&field("wavelengths"), setting)?;
                let sorted = SwitchSetting::after(&before[place], setting.connections.clone())
                    .with_wavelengths(|connection| wavelengths.get(connection).copied());
                check_list(&field("connect"), &setting.connect, &sorted.connect)?;
                check_list(&field("disconnect"), &setting.disconnect, &sorted.disconnect)?;
                before[place].clone_from(&sorted.connections);
                *setting = sorted;
            }
        }
        Ok(Self { switches, configurations, light: Vec::new(), mesh: None, energy: None, fibre_delay: None })
    }

    /// These circuits with the light of every configuration, where a mesh of MZIs is the switch.
    ///
    /// # Errors
    /// Light that is not that of its configuration, such as `circuits.configurations[2].light[0]`.
    pub fn with_light(self, light: Vec<Light>) -> Result<Self> {
        if !light.is_empty() && light.len() != self.configurations.len() {
            return Err(Error::malformed("circuits.configurations", "all must have light, or none"));
        }
        for (index, (light, configuration)) in light.iter().zip(&self.configurations).enumerate() {
            let joined = configuration.switches.iter().flat_map(|setting| setting.connections.iter().copied());
            light.check(&format!("circuits.configurations[{index}]"), joined.collect())?;
        }
        Ok(Self { light, ..self })
    }

    /// These circuits with the description of the mesh that carries the light.
    ///
    /// # Errors
    /// A number that no mesh has, such as `circuits.mesh.fibres`, or a mesh without light.
    pub fn with_mesh(self, mesh: MziMesh) -> Result<Self> {
        if self.light.is_empty() {
            return Err(Error::malformed("circuits.mesh", "a mesh goes with light, and the configurations have none"));
        }
        mesh.check("circuits.mesh")?;
        Ok(Self { mesh: Some(mesh), ..self })
    }

    /// These circuits with the energy of their lasers in a plan.
    ///
    /// # Errors
    /// Fewer steps than there are circuits for, a number that is no energy, such as `circuits.energy.total_j`, or no
    /// efficiency of the lasers.
    pub fn with_energy(self, energy: LaserEnergy) -> Result<Self> {
        if self.mesh.as_ref().and_then(|mesh| mesh.launch_power?.laser_efficiency).is_none() {
            let reason = "an energy goes with mesh.launch_power.laser_efficiency, and there is none";
            return Err(Error::malformed("circuits.energy", reason));
        }
        energy.check(self.steps())?;
        Ok(Self { energy: Some(energy), ..self })
    }

    /// These circuits with the delay of their fibres in a plan.
    ///
    /// # Errors
    /// Fewer steps than there are circuits for, a number that is no time, such as `circuits.fibre_delay.total_s`, or no
    /// lengths of fibres.
    pub fn with_fibre_delay(self, delay: FibreDelay) -> Result<Self> {
        if self.mesh.as_ref().is_none_or(|mesh| mesh.fibre_lengths.is_none()) {
            let reason = "a delay of fibres goes with mesh.fibre_lengths, and there are none";
            return Err(Error::malformed("circuits.fibre_delay", reason));
        }
        delay.check(self.steps())?;
        Ok(Self { fibre_delay: Some(delay), ..self })
    }

    /// The delay of the fibres; `None` where nothing is said about their lengths.
    pub fn fibre_delay(&self) -> Option<&FibreDelay> {
        self.fibre_delay.as_ref()
    }

    /// Steps that there are circuits for.
    fn steps(&self) -> usize {
        let last = self.configurations.iter().flat_map(|configuration| &configuration.steps).max();
        last.map_or(0, |last| last.saturating_add(1))
    }

    /// The energy of the lasers; `None` where nothing is said about it.
    pub fn energy(&self) -> Option<&LaserEnergy> {
        self.energy.as_ref()
    }

    /// The light of every configuration; empty where no mesh of MZIs is the switch.
    pub fn light(&self) -> &[Light] {
        &self.light
    }

    /// The construction of the mesh that carries the light; `None` where no mesh is the switch, and in files from
    /// before it was written.
    pub fn mesh(&self) -> Option<&MziMesh> {
        self.mesh.as_ref()
    }

    /// The switches.
    pub fn switches(&self) -> &[Switch] {
        &self.switches
    }

    /// The configurations, in the order of time.
    pub fn configurations(&self) -> &[Configuration] {
        &self.configurations
    }
}

/// # Errors
/// No switch, one without a name or with the name of another, or a number of ports out of range.
fn check_switches(switches: &[Switch]) -> Result<()> {
    if switches.is_empty() {
        return Err(Error::malformed("circuits.switches", "there must be at least one switch"));
    }
    let mut names = BTreeSet::new();
    for (index, Switch { name, ports }) in switches.iter().enumerate() {
        let field = |of: &str| format!("circuits.switches[{index}].{of}");
        if name.is_empty() || name.len() > 100 || name.chars().any(char::is_control) {
            return Err(Error::malformed(field("name"), "it must be one line of 1 to 100 bytes"));
        }
        if !names.insert(name) {
            return Err(Error::malformed(field("name"), format!("`{name}` is the name of another switch")));
        }
        if !(1..=MAX_SWITCH_PORTS).contains(ports) {
            let accepts = format!("it is {ports}; it must be from 1 to {MAX_SWITCH_PORTS}");
            return Err(Error::malformed(field("ports"), accepts));
        }
    }
    Ok(())
}

/// # Errors
/// A port that the switch does not have, or that is joined to two others.
fn check_joined(field: &str, connections: &[Connection], ports: u32) -> Result<()> {
    let (mut ingress, mut egress) = (BTreeSet::new(), BTreeSet::new());
    for connection in connections {
        for (side, port, used) in
            [("ingress", connection.ingress, &mut ingress), ("egress", connection.egress, &mut egress)]
        {
            if !(1..=ports).contains(&port) {
                let reason = format!("{side} port {port} is not one of the switch's ports, 1 to {ports}");
                return Err(Error::malformed(field, reason));
            }
            if !used.insert(port) {
                return Err(Error::malformed(field, format!("{side} port {port} is joined to two ports")));
            }
        }
    }
    Ok(())
}

/// The wavelengths of a setting by connection; none where it has none.
///
/// # Errors
/// Another number of them than of connections.
fn by_connection(field: &str, setting: &SwitchSetting) -> Result<BTreeMap<Connection, u32>> {
    let (found, expected) = (setting.wavelengths.len(), setting.connections.len());
    if found != 0 && found != expected {
        let reason = format!("{found} are listed for {}", counted(expected as u64, "connection"));
        return Err(Error::malformed(field, reason));
    }
    Ok(setting.connections.iter().copied().zip(setting.wavelengths.iter().copied()).collect())
}

/// # Errors
/// A list that is not what follows from the connections, with the first that differs.
fn check_list(field: &str, stated: &[Connection], expected: &[Connection]) -> Result<()> {
    let mut sorted = stated.to_vec();
    sorted.sort_unstable();
    if sorted == expected {
        return Ok(());
    }
    let shown = |connection: &Connection| format!("{} → {}", connection.ingress, connection.egress);
    let (has, needs): (BTreeSet<_>, BTreeSet<_>) = (sorted.iter().collect(), expected.iter().collect());
    let reason = match (needs.difference(&has).next(), has.difference(&needs).next()) {
        (Some(missing), _) => {
            format!("{} is missing, by the connections of this configuration and the one before", shown(missing))
        }
        (None, Some(more)) => {
            format!("{} should not be listed, by the connections of this configuration and the one before", shown(more))
        }
        (None, None) => "a connection is listed twice".to_string(),
    };
    Err(Error::malformed(field, reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(pairs: &[(u32, u32)]) -> Vec<Connection> {
        pairs.iter().map(|&(ingress, egress)| Connection { ingress, egress }).collect()
    }

    fn made(change: impl Fn(&mut Vec<Switch>, &mut Vec<Configuration>)) -> Result<Circuits> {
        let first = SwitchSetting::after(&[], joined(&[(1, 2), (2, 1)]));
        let second = SwitchSetting::after(&first.connections, joined(&[(1, 2), (3, 1)]));
        let configuration = |topology, steps: &[usize], time_s, setting| Configuration {
            topology,
            steps: steps.to_vec(),
            time_s,
            switches: vec![setting],
            events: None,
        };
        let mut switches = vec![Switch { name: "core".into(), ports: 3 }];
        let mut configurations = vec![configuration(0, &[0, 1], 0.0, first), configuration(1, &[2], 1e-6, second)];
        change(&mut switches, &mut configurations);
        Circuits::new(switches, configurations)
    }

    #[test]
    fn changes_lead_from_one_configuration_to_the_next() {
        let circuits = made(|_, _| ()).unwrap();
        let [first, second] = [0, 1].map(|index| &circuits.configurations()[index].switches[0]);
        assert_eq!((first.connect.len(), first.disconnect.len()), (2, 0));
        assert_eq!((&second.connect, &second.disconnect), (&joined(&[(3, 1)]), &joined(&[(2, 1)])));
    }

    #[test]
    fn what_no_switch_can_do_is_refused_with_its_place() {
        type Change = fn(&mut Vec<Switch>, &mut Vec<Configuration>);
        let wrong: [(Change, &str); 11] = [
            (|switches, _| switches.clear(), "circuits.switches"),
            (|switches, _| switches[0].ports = 2, "circuits.configurations[1].switches[0].connections"),
            (|switches, _| switches[0].ports = 0, "circuits.switches[0].ports"),
            (|switches, _| switches[0].name.clear(), "circuits.switches[0].name"),
            (|_, all| all.clear(), "circuits.configurations"),
            (|_, all| all[1].time_s = -1.0, "circuits.configurations[1].time_s"),
            (|_, all| all[1].time_s = f64::NAN, "circuits.configurations[1].time_s"),
            (|_, all| all[1].steps = vec![1], "circuits.configurations[1].steps"),
            (
                |_, all| all[0].switches[0].connections[1].egress = 2,
                "circuits.configurations[0].switches[0].connections",
            ),
            (|_, all| all[1].switches[0].connect.clear(), "circuits.configurations[1].switches[0].connect"),
            (
                |_, all| all[1].switches[0].disconnect[0].ingress = 1,
                "circuits.configurations[1].switches[0].disconnect",
            ),
        ];
        for (change, place) in wrong {
            assert_eq!(made(change).unwrap_err().field(), place);
        }
    }
}
