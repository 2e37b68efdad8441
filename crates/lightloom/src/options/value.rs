//! The value of an option as the user gives it, and its reading by the option's kind.

use model::ranges::{RATE, SIZE, TIME, WholeRange};
use model::{Barrier, Error, ReconfigurationDelay, Result, Schedule, Topology, Window, units};

use super::names::split_names;
use crate::request::{Size, TopologyRef};

/// Characters of a value that a message shows.
const SHOWN: usize = 60;
/// Ends a size that is one of blocks between a pair of ranks.
const PER_PAIR: &str = "/pair";

/// A value as it was given, before its kind is known.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Text, such as `64MiB` or `ring`.
    Text(String),
    /// A whole number.
    Whole(i128),
    /// Any other number.
    Number(f64),
    /// True or false.
    Truth(bool),
    /// Several values.
    List(Vec<Value>),
    /// A topology as it is.
    Topology(Topology),
    /// A schedule as it is.
    Schedule(Schedule),
    /// Bytes `[src][dst]`.
    Matrix(Vec<Vec<f64>>),
    /// Anything else, as a message shows it: no option takes it.
    Other(String),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_string())
    }
}

impl Value {
    /// The error that says what the field takes in place of this value.
    pub(super) fn refuse(&self, field: &str, accepts: impl ToString) -> Error {
        Error::value(field, format!("`{}`", self.shown()), accepts)
    }

    /// The value as a message shows it.
    fn shown(&self) -> String {
        let text = match self {
            Self::Text(text) | Self::Other(text) => text.clone(),
            Self::Whole(number) => number.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Truth(truth) => truth.to_string(),
            Self::List(items) => format!("[{}]", items.iter().map(Self::shown).collect::<Vec<_>>().join(", ")),
            Self::Topology(topology) => format!("topology {}", topology.name()),
            Self::Schedule(_) => "a schedule".to_string(),
            Self::Matrix(_) => "a matrix".to_string(),
        };
        text.chars().take(SHOWN).collect()
    }

    /// The text.
    ///
    /// # Errors
    /// Anything else.
    pub fn text(&self, field: &str) -> Result<String> {
        match self {
            Self::Text(text) => Ok(text.clone()),
            _ => Err(self.refuse(field, "text")),
        }
    }

    /// The truth.
    ///
    /// # Errors
    /// Anything else.
    pub fn truth(&self, field: &str) -> Result<bool> {
        match self {
            Self::Truth(truth) => Ok(*truth),
            _ => Err(self.refuse(field, "true or false")),
        }
    }

    /// The whole number.
    ///
    /// # Errors
    /// Anything else, and a number outside the range.
    pub fn whole(&self, field: &str, range: WholeRange) -> Result<u64> {
        let number = if let Self::Whole(number) = self { u64::try_from(*number).ok() } else { None };
        let number = number.filter(|&number| range.contains(number));
        number.ok_or_else(|| self.refuse(field, range.accepts()))
    }

    /// The plain number.
    fn number(&self) -> Option<f64> {
        match self {
            Self::Whole(number) => Some(*number as f64),
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// Seconds: text with a unit, or a number of them.
    ///
    /// # Errors
    /// Anything else, and a time outside the range of times.
    pub fn time(&self, field: &str) -> Result<f64> {
        match (self, self.number()) {
            (Self::Text(text), _) => units::parse_time(field, text),
            (_, Some(seconds)) => units::time_from_f64(field, seconds),
            _ => Err(self.refuse(field, format!("{}, or a number of seconds", TIME.accepts))),
        }
    }

    /// A barrier: text, or a number of seconds.
    ///
    /// # Errors
    /// Anything else, and a time outside the range of times.
    pub fn barrier(&self, field: &str) -> Result<Barrier> {
        match self {
            Self::Text(text) => Barrier::parse(field, text),
            _ => self.time(field).map(Barrier::Constant),
        }
    }

    /// Bits per second: text with a unit, or a number of them.
    ///
    /// # Errors
    /// Anything else, and a rate outside the range of rates.
    pub fn rate(&self, field: &str) -> Result<f64> {
        match (self, self.number()) {
            (Self::Text(text), _) => units::parse_rate(field, text),
            (_, Some(rate_bps)) => units::rate_from_f64(field, rate_bps),
            _ => Err(self.refuse(field, format!("{}, or a number of bit/s", RATE.accepts))),
        }
    }

    /// Bits per second of every port: one rate, or a list of them in a text with commas or as it is.
    ///
    /// # Errors
    /// As [`Value::rate`], of each; an empty list.
    pub fn rates(&self, field: &str) -> Result<Vec<f64>> {
        match self {
            Self::List(items) if !items.is_empty() => items.iter().map(|item| item.rate(field)).collect(),
            Self::Text(text) => text.split(',').map(|item| units::parse_rate(field, item)).collect(),
            _ => self.rate(field).map(|rate| vec![rate]),
        }
    }

    /// Bytes: text with a unit, or a number of them.
    ///
    /// # Errors
    /// Anything else, and a size outside the range of sizes.
    pub fn bytes(&self, field: &str) -> Result<u64> {
        let in_range = |bytes| units::size_in_range(field, bytes).map_err(|_| self.refuse(field, SIZE.accepts));
        match self {
            Self::Text(text) => units::parse_size(field, text),
            Self::Whole(number) => in_range(u64::try_from(*number).unwrap_or(0)),
            Self::Number(number) => units::size_from_f64(field, *number),
            _ => Err(self.refuse(field, format!("{}, or a number of bytes", SIZE.accepts))),
        }
    }

    /// The amount of data: bytes of a rank's whole buffer, or of the blocks between pairs where `/pair` ends the text.
    ///
    /// # Errors
    /// As [`Value::bytes`].
    pub fn size(&self, field: &str) -> Result<Size> {
        if let Self::Text(text) = self
            && let Some(text) = text.trim().strip_suffix(PER_PAIR)
        {
            return units::parse_size(field, text).map(Size::PerPair);
        }
        self.bytes(field).map(Size::Buffer)
    }

    /// The time of a change of topology: text, seconds, or a list of these by port.
    ///
    /// # Errors
    /// Anything else, and a delay outside the range of times.
    pub fn delay(&self, field: &str) -> Result<ReconfigurationDelay> {
        let items = if let Self::List(items) = self { items.as_slice() } else { std::slice::from_ref(self) };
        let text_of = |item: &Self| match item {
            Self::Text(text) => Ok(text.clone()),
            Self::Whole(_) | Self::Number(_) => item.time(field).map(|seconds| format!("{seconds:?}s")),
            _ => Err(item.refuse(
                field,
                "a delay such as 10us, the name of a technology, a number of seconds, or a \
                list with one of these for each port",
            )),
        };
        let texts = items.iter().map(text_of).collect::<Result<Vec<_>>>()?;
        ReconfigurationDelay::parse(field, &texts.join(","))
    }

    /// Computation before steps.
    ///
    /// # Errors
    /// Anything but text and a time.
    pub fn window(&self, field: &str) -> Result<Window> {
        match self {
            Self::Text(text) => Window::parse(field, text),
            _ => Ok(Window { every_s: self.time(field)?, ..Window::default() }),
        }
    }

    /// Sizes of a grid: `4x4x4` or a list of whole numbers.
    ///
    /// # Errors
    /// Anything else, and a size outside the range of GPUs.
    pub fn dims(&self, field: &str, range: WholeRange) -> Result<Vec<u32>> {
        let refuse = || self.refuse(field, "sizes such as 4x4x4");
        let sizes: Vec<Self> = match self {
            Self::Text(text) => {
                let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
                let size = |part: &str| part.parse().ok().filter(|_| digits(part)).map(Self::Whole);
                text.to_lowercase().split('x').map(size).collect::<Option<_>>().ok_or_else(refuse)?
            }
            Self::List(items) if !items.is_empty() => items.clone(),
            _ => return Err(refuse()),
        };
        let size = |item: &Self| match item {
            Self::Whole(_) => item.whole(field, range).and_then(|size| u32::try_from(size).map_err(|_| refuse())),
            _ => Err(refuse()),
        };
        sizes.iter().map(size).collect()
    }

    /// The schedule.
    ///
    /// # Errors
    /// Anything else: a file is read before.
    pub fn schedule(&self, field: &str) -> Result<Schedule> {
        match self {
            Self::Schedule(schedule) => Ok(schedule.clone()),
            _ => Err(self.refuse(field, "a schedule")),
        }
    }

    /// The topology that the value names or is.
    ///
    /// # Errors
    /// Anything else.
    pub fn topology(&self, field: &str) -> Result<TopologyRef> {
        match self {
            // The ports of another fabric are not those of this one.
            Self::Topology(topology) => Ok(TopologyRef::Given(topology.clone().on_any_ports())),
            _ => self.text(field).map(TopologyRef::Named),
        }
    }

    /// Several topologies: names in a text or a list, or as they are. A repeated name counts once.
    ///
    /// # Errors
    /// An empty name or list, and what is no topology.
    pub fn topologies(&self, field: &str) -> Result<Vec<TopologyRef>> {
        let items = match self {
            Self::Text(text) => split_names(text).iter().map(|name| Self::from(name.as_str())).collect(),
            Self::List(items) => items.clone(),
            item => vec![item.clone()],
        };
        let empty = || Error::malformed(field, "there is an empty name; it takes names such as ring,torus:4x4");
        let mut found: Vec<TopologyRef> = Vec::new();
        for item in &items {
            let item = match item {
                Self::Text(name) if name.is_empty() => return Err(empty()),
                Self::Text(_) | Self::Topology(_) => item.topology(field)?,
                _ => return Err(self.refuse(field, "names of topologies, files, graphs, or a list of these")),
            };
            if !found.contains(&item) {
                found.push(item);
            }
        }
        if found.is_empty() { Err(empty()) } else { Ok(found) }
    }
}
