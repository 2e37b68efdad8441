//! The columns of the table of planning options.

use model::ranges::{self, WholeRange};

/// The form of an option's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Text of a form of its own, which the meaning describes.
    Text,
    /// A name of a registry.
    Name,
    /// A whole number, in the range that [`model::ranges`] has under the option's name.
    Whole,
    /// Bytes, such as `64MiB`.
    Size,
    /// Seconds, such as `500ns`.
    Time,
    /// Bits per second, such as `800Gbps`.
    Rate,
    /// A reconfiguration delay: seconds, a technology, or a list of these by port.
    Delay,
    /// A barrier: seconds, `harvest`, `8=4us,64=20us` by number of GPUs, or the file of a measurement.
    Barrier,
    /// Places of GPUs: text, or a file.
    Positions,
    /// Rates and hop delays by pair of GPUs: text, or a file.
    PairRates,
    /// Computation before steps: seconds, or `1=20us,5=3us` by step.
    Window,
    /// Sizes of a grid, such as `4x4x4`.
    Dims,
    /// A topology's name, or a file or graph that holds one.
    Topology,
    /// A list of topologies and families of candidates.
    Topologies,
    /// A fabric's name or file.
    Fabric,
    /// An optical layer with its parameters.
    Optics,
    /// Bytes from rank to rank, or the name of a generated matrix.
    Matrix,
    /// A file.
    File,
    /// True or false.
    YesOrNo,
}

/// The part of a request that an option belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Arguments that every function which plans has by name: collective, size and fabric.
    Argument,
    /// The fabric.
    Fabric,
    /// Settings other than the fabric, of all verbs and functions that plan.
    Setting,
    /// Options that only `plan` takes.
    Plan,
}

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanningOption {
    /// Name as Python, TOML files and sweeps write it; the command line has dashes for its underscores.
    pub name: &'static str,
    /// The form of the option's value.
    pub kind: Kind,
    /// The part of a request that it belongs to.
    pub part: Part,
    /// Section of `--help` that shows it.
    pub group: &'static str,
    /// Meaning of the option, in a sentence or two.
    pub meaning: &'static str,
    /// Verbs of the command line that take it.
    pub verbs: &'static [&'static str],
    /// The default value, as text; `None` where the option is then left open.
    pub default: Option<&'static str>,
    /// The value that is taken where the option is left open, in words.
    pub otherwise: &'static str,
    /// Kind of `lightloom list` that the names of a [`Kind::Name`] are of.
    pub names: &'static str,
    /// Names that are no entry of that list.
    pub others: &'static [&'static str],
    /// The text that `--help` shows for the value, where the kind's own says too little.
    pub metavar: &'static str,
    /// A value that goes with the examples of the other options.
    pub example: &'static str,
    /// The types that Python takes in addition to text and numbers.
    pub python: &'static str,
}

impl PlanningOption {
    /// The whole numbers that it takes; `None` for other kinds.
    pub fn range(&self) -> Option<WholeRange> {
        ranges::whole(self.name)
    }

    /// Whether text, numbers and lists of them state the value, so that [`crate::TextFabric::read`] or
    /// [`crate::TextRequest::read`] needs nothing else. Schedules and matrices are read from files first.
    pub fn is_read(&self) -> bool {
        self.part != Part::Argument && !matches!(self.kind, Kind::File | Kind::Matrix)
    }
}
