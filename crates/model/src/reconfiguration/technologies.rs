//! What is known of switches.

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
