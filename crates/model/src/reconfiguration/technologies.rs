//! Data on known switches.

/// A switch technology and its reconfiguration delay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Technology {
    /// Name for `--reconfiguration-delay`.
    pub name: &'static str,
    /// A product or its maker, as the source names it. It is accepted as another name if no other technology has it.
    pub product: Option<&'static str>,
    /// Dark time of a reconfiguration, seconds.
    pub delay_s: f64,
    /// Ports of one switch, where the source gives them.
    pub ports: Option<u32>,
    /// The publication that states the figure.
    pub source: &'static str,
}

const fn technology(
    name: &'static str,
    product: Option<&'static str>,
    delay_s: f64,
    ports: Option<u32>,
    source: &'static str,
) -> Technology {
    Technology { name, product, delay_s, ports, source }
}

/// Reconfiguration delay by technology.
pub const TECHNOLOGIES: &[Technology] = &[
    technology("tunable-laser", None, 10e-9, None, "HARVEST §6.1"),
    technology("passage", Some("lightmatter-passage"), 3.7e-6, None, "PCCL §5 (Lightmatter Passage)"),
    technology("sip", None, 7e-6, Some(32), "BRIDGE table 2 (silicon photonics, Lightmatter)"),
    technology("rotornet", None, 10e-6, Some(128), "BRIDGE table 2 (RotorNet)"),
    technology("mems-3d", Some("calient"), 15e-3, Some(320), "BRIDGE table 2 (3-D MEMS, Calient)"),
    technology("piezo", Some("polatis"), 25e-3, Some(576), "BRIDGE table 2 (piezo, Polatis)"),
];

impl Technology {
    /// The technology of that name, or of that product in any case of letters.
    pub fn named(text: &str) -> Option<&'static Self> {
        let is_product =
            |technology: &Self| technology.product.is_some_and(|product| product.eq_ignore_ascii_case(text));
        TECHNOLOGIES.iter().find(|technology| technology.name == text || is_product(technology))
    }
}
