//! The photonic fabric: ports, rates, delays, and the topology that it starts in.

use crate::{Error, Hiding, Result, Shape, Topology, units, unknown_name};

/// A switch technology and its reconfiguration delay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Technology {
    /// Name for `--reconfiguration-delay`.
    pub name: &'static str,
    /// Dark time of a reconfiguration, seconds.
    pub delay_s: f64,
    /// Ports of one switch, where the source gives them.
    pub ports: Option<u32>,
    /// Where the figure is from.
    pub source: &'static str,
}

/// Reconfiguration delay by technology.
pub const TECHNOLOGIES: &[Technology] = &[
    Technology { name: "tunable-laser", delay_s: 10e-9, ports: None, source: "HARVEST §6.1" },
    Technology { name: "passage", delay_s: 3.7e-6, ports: None, source: "PCCL §5 (Lightmatter Passage)" },
    Technology {
        name: "sip",
        delay_s: 7e-6,
        ports: Some(32),
        source: "BRIDGE table 2 (silicon photonics, Lightmatter)",
    },
    Technology { name: "rotornet", delay_s: 10e-6, ports: Some(128), source: "BRIDGE table 2 (RotorNet)" },
    Technology { name: "mems-3d", delay_s: 15e-3, ports: Some(320), source: "BRIDGE table 2 (3-D MEMS, Calient)" },
    Technology { name: "piezo", delay_s: 25e-3, ports: Some(576), source: "BRIDGE table 2 (piezo, Polatis)" },
];

/// Dark time of a change of topology: a fixed part and a part per changed port.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReconfigurationDelay {
    /// Seconds for any change.
    pub fixed_s: f64,
    /// Seconds for each port whose circuit changes.
    pub per_port_s: f64,
}

impl ReconfigurationDelay {
    /// The same delay for every change.
    pub fn constant(fixed_s: f64) -> Self {
        Self { fixed_s, per_port_s: 0.0 }
    }

    /// `10us`, `20ns/port`, `5us+20ns/port`, or the name of a technology.
    ///
    /// # Errors
    /// Anything else.
    pub fn parse(field: &str, text: &str) -> Result<Self> {
        let text = text.trim();
        if let Some(technology) = TECHNOLOGIES.iter().find(|technology| technology.name == text) {
            return Ok(Self::constant(technology.delay_s));
        }
        if text.chars().next().is_some_and(char::is_alphabetic) {
            return Err(unknown_name(field, text, TECHNOLOGIES.iter().map(|technology| technology.name)));
        }
        let mut delay = Self::constant(0.0);
        // A plus inside an exponent (1e+3ns) is not a separator.
        for term in text.split('+').fold(Vec::<String>::new(), |mut terms, part| {
            match terms.last_mut() {
                Some(last) if last.ends_with(['e', 'E']) => *last = format!("{last}+{part}"),
                _ => terms.push(part.to_string()),
            }
            terms
        }) {
            match term.trim().strip_suffix("/port") {
                Some(per_port) => delay.per_port_s += units::parse_time(field, per_port)?,
                None => delay.fixed_s += units::parse_time(field, &term)?,
            }
        }
        // Each term is a time; their sum must be one, too.
        units::time_from_f64(field, delay.fixed_s)?;
        units::time_from_f64(field, delay.per_port_s)?;
        Ok(delay)
    }

    /// Seconds to change from one topology to another; nothing when the links are the same.
    pub fn between(&self, from: &Topology, to: &Topology) -> f64 {
        if self.per_port_s == 0.0 {
            return if from.same_links(to) { 0.0 } else { self.fixed_s };
        }
        self.of_ports(from.changed_ports(to))
    }

    /// Seconds to change the circuits of so many ports; nothing where there are none.
    pub fn of_ports(&self, ports: u64) -> f64 {
        if ports == 0 { 0.0 } else { self.fixed_s + self.per_port_s * ports as f64 }
    }
}

/// The topology in force before the first step.
#[derive(Debug, Clone, PartialEq)]
pub enum Initial {
    /// Whatever the plan wants, at no charge (HARVEST).
    Free,
    /// This one; changing it before the first step is charged.
    Topology(Topology),
}

/// A fabric of GPUs behind photonic circuit switches.
#[derive(Debug, Clone, PartialEq)]
pub struct Fabric {
    /// GPUs, their grid, and ports per GPU.
    pub shape: Shape,
    /// Rate of one circuit (one port), bit/s.
    pub bandwidth_bps: f64,
    /// Start-up latency α of a step, s.
    pub startup_s: f64,
    /// Delay δ of one hop, s.
    pub hop_delay_s: f64,
    /// Reconfiguration delay α_r.
    pub reconfiguration: ReconfigurationDelay,
    /// What of α_r is hidden.
    pub hiding: Hiding,
    /// Topology before the first step.
    pub initial: Initial,
}

impl Fabric {
    /// # Errors
    /// A rate, delay or window outside its range ([`crate::ranges`]), or an initial topology of another size or with
    /// more circuits per GPU than there are ports.
    pub fn check(&self) -> Result<()> {
        units::rate_from_f64("bandwidth", self.bandwidth_bps)?;
        units::time_from_f64("startup", self.startup_s)?;
        units::time_from_f64("hop_delay", self.hop_delay_s)?;
        units::time_from_f64("reconfiguration_delay", self.reconfiguration.fixed_s)?;
        units::time_from_f64("reconfiguration_delay", self.reconfiguration.per_port_s)?;
        self.hiding.window.check()?;
        if let Initial::Topology(topology) = &self.initial {
            if topology.ranks() != self.shape.gpus() {
                return Err(Error::value(
                    "initial",
                    format!("{} of {} GPUs", topology.name(), topology.ranks()),
                    format!("a topology of {} GPUs", self.shape.gpus()),
                ));
            }
            topology.check_ports(self.shape.ports()).map_err(|error| error.in_field("initial"))?;
        }
        Ok(())
    }

    /// β: seconds per byte on one circuit.
    pub fn byte_s(&self) -> f64 {
        8.0 / self.bandwidth_bps
    }

    /// Name of the initial topology, `free` when there is none.
    pub fn initial_name(&self) -> &str {
        match &self.initial {
            Initial::Free => "free",
            Initial::Topology(topology) => topology.name(),
        }
    }
}
