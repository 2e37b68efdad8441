//! Options by name, read into what is asked for.

use std::collections::BTreeMap;

use model::{
    Electrical, Error, FAULT_FORMS, Faults, PairClasses, Positions, ReconfigurationOverlap, Result, unknown_name,
};

use super::option::{Kind, Part, PlanningOption};
use super::rank_list;
use super::table::{OPTIONS, find};
use super::value::Value;
use crate::matrix::MatrixRef;
use crate::text_request::{TextFabric, TextRequest};

/// Planning options that were given, by name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Given(BTreeMap<&'static str, Value>);

impl Given {
    /// Options by the names that the table has for them.
    ///
    /// # Errors
    /// An option that there is not, or that comes twice.
    pub fn new(values: impl IntoIterator<Item = (impl AsRef<str>, Value)>) -> Result<Self> {
        let mut found = Self::default();
        for (name, value) in values {
            found.insert(row(name.as_ref(), name.as_ref())?, value)?;
        }
        Ok(found)
    }

    /// Options as a command line has them: names with dashes or underscores, values as text.
    ///
    /// # Errors
    /// An option that there is not, or that comes twice.
    pub fn of_texts<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self> {
        let mut found = Self::default();
        for (written, text) in pairs {
            let option = row(written, &written.strip_prefix("--").unwrap_or(written).replace('-', "_"))?;
            found.insert(option, of_text(option, text))?;
        }
        Ok(found)
    }

    fn insert(&mut self, option: &'static PlanningOption, value: Value) -> Result<()> {
        match self.0.insert(option.name, value) {
            None => Ok(()),
            Some(_) => Err(Error::malformed(option.name, "it is given twice")),
        }
    }

    /// The result of `read` for the option's value, or for its default where it was not given.
    fn read<T>(&self, name: &str, read: impl Fn(&Value, &str) -> Result<T>) -> Result<Option<T>> {
        let default = || find(name).and_then(|option| Some(of_text(option, option.default?)));
        self.0.get(name).cloned().or_else(default).map(|value| read(&value, name)).transpose()
    }

    /// The result of `read` for the value of an option that has a default, or for that default.
    fn known<T>(&self, name: &str, read: impl Fn(&Value, &str) -> Result<T>) -> Result<T> {
        self.read(name, read)?.ok_or_else(|| Error::value(name, "nothing", "a value"))
    }

    fn whole<T: TryFrom<u64>>(&self, name: &str) -> Result<Option<T>> {
        let Some(range) = find(name).and_then(PlanningOption::range) else { return Ok(None) };
        let number = self.read(name, |value, field| value.whole(field, range))?;
        let fits = |number| T::try_from(number).map_err(|_| Error::value(name, number, range.accepts()));
        number.map(fits).transpose()
    }

    /// A name, unless it leaves the choice open as `auto` does.
    fn name(&self, name: &str) -> Result<Option<String>> {
        Ok(self.read(name, Value::text)?.filter(|text| text != "auto"))
    }
}

/// The row that a name stands for, which an error shows as it was written.
fn row(written: &str, name: &str) -> Result<&'static PlanningOption> {
    let option = find(name).filter(|option| option.part != Part::Argument);
    let names = || OPTIONS.iter().filter(|option| option.is_read()).map(|option| option.name);
    option.ok_or_else(|| unknown_name("options", written, names()))
}

/// The value that a text stands for; the text itself where it is not of the option's kind, to be refused as such.
fn of_text(option: &PlanningOption, text: &str) -> Value {
    let typed = match option.kind {
        Kind::Whole => text.parse().ok().map(Value::Whole),
        Kind::YesOrNo => text.parse().ok().map(Value::Truth),
        _ => None,
    };
    typed.unwrap_or_else(|| Value::from(text))
}

impl TextFabric {
    /// The fabric that options describe; what is not given is the table's default.
    ///
    /// # Errors
    /// An option that does not take its value.
    pub fn read(given: &Given) -> Result<Self> {
        let gpus = model::ranges::whole("gpus").ok_or_else(|| Error::value("gpus", "nothing", "a range"))?;
        Ok(Self {
            gpus: given.whole("gpus")?,
            dims: given.read("dims", |value, field| value.dims(field, gpus))?.unwrap_or_default(),
            ports: given.whole("ports")?.unwrap_or(1),
            bandwidth_bps: given.known("bandwidth", Value::rates)?,
            startup_s: given.known("startup", Value::time)?,
            barrier: given.known("barrier", Value::barrier)?,
            hop_delay_s: given.known("hop_delay", Value::time)?,
            reconfiguration_delay: given.known("reconfiguration_delay", Value::delay)?,
            overlap: ReconfigurationOverlap {
                background: given.known("background_reconfiguration", Value::truth)?,
                window: given.read("window", Value::window)?.unwrap_or_default(),
            },
            initial: given.read("initial", Value::topology)?,
            optics: given.read("optics", Value::text)?,
            failed: given.read("failed", faults)?.unwrap_or_default(),
            electrical: given.read("electrical", |value, field| Electrical::parse(field, &value.text(field)?))?,
            pair_rates: given.read("pair_rates", |value, field| PairClasses::parse(field, &value.text(field)?))?,
            positions: given.read("positions", |value, field| Positions::parse(field, &value.text(field)?))?,
        })
    }
}

impl TextRequest {
    /// The request that options ask for, without the collective and the size.
    ///
    /// # Errors
    /// An option that does not take its value.
    pub fn read(given: &Given) -> Result<Self> {
        Ok(Self {
            collective: None,
            size: None,
            algorithm: given.name("algorithm")?,
            ranks: given.read("ranks", rank_list::read)?,
            others_forward: given.known("others_forward", Value::truth)?,
            radix: given.whole("radix")?,
            aggregation: given.whole("aggregation")?,
            root: given.whole("root")?,
            schedule: given.read("schedule", Value::schedule)?,
            matrix: given.read("matrix", MatrixRef::of)?,
            planner: given.name("planner")?,
            convention: given.read("convention", Value::text)?,
            routing: given.read("routing", Value::text)?,
            overlap: given.read("overlap", Value::text)?,
            candidates: given.read("candidates", Value::topologies)?,
            topology: given.read("topology", Value::topologies)?,
            chunk_bytes: given.read("chunk_size", Value::bytes)?,
            optical_ports: given.whole("optical_ports")?,
            budget_s: given.read("budget", Value::time)?,
            seed: given.whole("seed")?,
        })
    }
}

/// Faults as a text with commas, or a list of texts; an empty one has none.
///
/// # Errors
/// A text that is no fault, or anything but text.
fn faults(value: &Value, field: &str) -> Result<Faults> {
    let texts = match value {
        Value::List(items) => items.iter().map(|item| item.text(field)).collect::<Result<Vec<_>>>()?,
        Value::Text(text) => text.split(',').map(str::to_string).collect(),
        other => return Err(other.refuse(field, FAULT_FORMS)),
    };
    texts.iter().map(|text| text.parse()).collect::<Result<Vec<_>>>().map(|all| all.into_iter().collect())
}

impl MatrixRef {
    /// # Errors
    /// Anything but rows of numbers and text.
    fn of(value: &Value, field: &str) -> Result<Self> {
        match value {
            Value::Matrix(rows) => Ok(Self::Rows(rows.clone())),
            _ => value.text(field).map(Self::Generated),
        }
    }
}
