//! A fabric and what is asked of its plans, from JSON or pairs of texts: the names, units and defaults of the command line.

mod names;
mod pairs;

use formats::Ordered;
use lightloom::{Asked, AskedFabric, TopologyRef};
use model::{Error, ReconfigurationDelay, ReconfigurationOverlap, Result, Window, ranges, units, unknown_name};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

pub use names::NAMES;

/// The fabric, and all but collective and size of what is asked.
///
/// # Errors
/// Text that is no JSON object, an option that there is not or that comes twice, or one that does not take its value.
pub fn read(text: &str) -> Result<(AskedFabric, Asked)> {
    let refuse = |error: serde_json::Error| {
        Error::malformed("options", format!(r#"{error}; it takes a JSON object such as {{"gpus": 64}}"#))
    };
    let given: Ordered<&RawValue> = serde_json::from_str(text).map_err(refuse)?;
    let values = given.0.into_iter().map(|(name, raw)| Ok((name, value_of(raw.get())?)));
    told(values.collect::<serde_json::Result<_>>().map_err(refuse)?)
}

/// The value of a JSON text. A number that is too small for a float is not zero: it stays the text that no option takes.
fn value_of(text: &str) -> serde_json::Result<Value> {
    let value: Value = serde_json::from_str(text)?;
    let digits = text.split(['e', 'E']).next().unwrap_or_default();
    let is_lost = value.as_f64() == Some(0.0) && digits.contains(|digit: char| ('1'..='9').contains(&digit));
    Ok(if is_lost { Value::from(text) } else { value })
}

/// The same of pairs of a name and a value, as the command line has them.
///
/// # Errors
/// As for [`read`], and an option that comes twice.
pub fn read_pairs<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<(AskedFabric, Asked)> {
    told(pairs::given(pairs)?)
}

fn told(given: Map<String, Value>) -> Result<(AskedFabric, Asked)> {
    let given = Given(given);
    if let Some(name) = given.0.keys().find(|name| !NAMES.contains(&name.as_str())) {
        return Err(unknown_name("options", name, NAMES));
    }
    Ok((fabric_of(&given)?, asked_of(&given)?))
}

fn fabric_of(given: &Given) -> Result<AskedFabric> {
    let dims = given.dims()?;
    let of_dims = dims.iter().try_fold(1u32, |product, size| product.checked_mul(*size)).filter(|_| !dims.is_empty());
    let gpus = given.whole("gpus")?.or(of_dims);
    let delay = match given.delay()? {
        Some(text) => ReconfigurationDelay::parse("reconfiguration_delay", &text)?,
        None => AskedFabric::of(0).reconfiguration_delay,
    };
    let window = match given.get("window") {
        None => Window::default(),
        Some(Value::String(text)) => Window::parse("window", text)?,
        Some(_) => Window { every_s: given.time("window")?.unwrap_or_default(), ..Window::default() },
    };
    let background = match given.get("background_reconfiguration") {
        None => false,
        Some(Value::Bool(is_so)) => *is_so,
        Some(other) => return Err(Error::value("background_reconfiguration", other, "true or false")),
    };
    let open = AskedFabric::of(gpus.ok_or_else(|| Error::value("gpus", "nothing", "a number of GPUs such as 64"))?);
    Ok(AskedFabric {
        dims,
        ports: given.whole("ports")?.unwrap_or(open.ports),
        bandwidth_bps: given.rate("bandwidth")?.unwrap_or(open.bandwidth_bps),
        startup_s: given.time("startup")?.unwrap_or(open.startup_s),
        hop_delay_s: given.time("hop_delay")?.unwrap_or(open.hop_delay_s),
        reconfiguration_delay: delay,
        overlap: ReconfigurationOverlap { background, window },
        initial: given.text("initial")?.map(TopologyRef::Named),
        optics: given.text("optics")?,
        ..open
    })
}

fn asked_of(given: &Given) -> Result<Asked> {
    Ok(Asked {
        algorithm: given.text("algorithm")?,
        radix: given.whole("radix")?,
        root: given.whole("root")?,
        planner: given.text("planner")?,
        convention: given.text("convention")?,
        routing: given.text("routing")?,
        overlap: given.text("overlap")?,
        candidates: given.topologies("candidates")?,
        topology: given.topologies("topology")?,
        chunk_bytes: given.size("chunk_size")?,
        optical_ports: given.whole("optical_ports")?,
        budget_s: given.time("budget")?,
        seed: given.whole("seed")?,
        ..Asked::default()
    })
}

/// What was given, by name.
struct Given(Map<String, Value>);

impl Given {
    /// The value of that name; null is none.
    fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    fn text(&self, name: &str) -> Result<Option<String>> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(other) => Err(Error::value(name, shown(other), "text")),
        }
    }

    fn whole<T: TryFrom<u64>>(&self, name: &str) -> Result<Option<T>> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let range = ranges::whole(name);
        let number = value.as_u64().filter(|&number| range.is_some_and(|range| range.contains(number)));
        let number = number.and_then(|number| T::try_from(number).ok());
        let accepts = range.map(|range| range.accepts()).unwrap_or_default();
        number.map(Some).ok_or_else(|| Error::value(name, shown(value), accepts))
    }

    fn time(&self, name: &str) -> Result<Option<f64>> {
        self.number(name, "a time such as 10us, or seconds", units::parse_time, units::time_from_f64)
    }

    fn rate(&self, name: &str) -> Result<Option<f64>> {
        self.number(name, "a rate such as 800Gbps, or bit/s", units::parse_rate, units::rate_from_f64)
    }

    fn size(&self, name: &str) -> Result<Option<u64>> {
        self.number(name, "a size such as 64KiB, or bytes", units::parse_size, units::size_from_f64)
    }

    /// A quantity, as text with its unit or as a number.
    fn number<T>(
        &self,
        name: &str,
        accepts: &str,
        parse: fn(&str, &str) -> Result<T>,
        check: fn(&str, f64) -> Result<T>,
    ) -> Result<Option<T>> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => parse(name, text).map(Some),
            Some(Value::Number(number)) if number.as_f64().is_some() => {
                check(name, number.as_f64().unwrap_or_default()).map(Some)
            }
            Some(other) => Err(Error::value(name, shown(other), accepts)),
        }
    }

    /// Sizes of the grid: `"4x4x4"` or a list of numbers; none where there is no grid.
    fn dims(&self) -> Result<Vec<u32>> {
        let Some(value) = self.get("dims") else { return Ok(Vec::new()) };
        let sizes: Option<Vec<u32>> = match value {
            Value::String(text) => text.to_lowercase().split('x').map(|size| size.parse().ok()).collect(),
            Value::Array(sizes) => {
                sizes.iter().map(|size| size.as_u64().and_then(|size| u32::try_from(size).ok())).collect()
            }
            _ => None,
        };
        let sizes = sizes.filter(|sizes| !sizes.is_empty());
        sizes.ok_or_else(|| Error::value("dims", shown(value), r#"sizes such as "4x4x4" or [4, 4, 4]"#))
    }

    /// A reconfiguration delay as text: of text, seconds, or a list of either by port.
    fn delay(&self) -> Result<Option<String>> {
        let name = "reconfiguration_delay";
        let one = |value: &Value| match (value, value.as_f64()) {
            (Value::String(text), _) => Ok(text.clone()),
            (_, Some(seconds)) => units::time_from_f64(name, seconds).map(|seconds| format!("{seconds:?}s")),
            _ => Err(Error::value(name, shown(value), "a delay such as 10us, seconds, or a list of these by port")),
        };
        match self.get(name) {
            None => Ok(None),
            Some(Value::Array(items)) => Ok(Some(items.iter().map(one).collect::<Result<Vec<_>>>()?.join(","))),
            Some(value) => one(value).map(Some),
        }
    }

    fn topologies(&self, name: &str) -> Result<Option<Vec<TopologyRef>>> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let named = |text: &str| (!text.is_empty()).then(|| TopologyRef::Named(text.to_string()));
        let names: Option<Vec<TopologyRef>> = match value {
            Value::String(text) => named(text).map(|name| vec![name]),
            Value::Array(items) => items.iter().map(|item| item.as_str().and_then(named)).collect(),
            _ => None,
        };
        let names = names.filter(|names| !names.is_empty());
        names.map(Some).ok_or_else(|| Error::value(name, shown(value), r#"names such as ["ring", "torus:4x4"]"#))
    }
}

/// A value as a message shows it.
fn shown(value: &Value) -> String {
    value.to_string().chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fabric(text: &str) -> AskedFabric {
        read(text).expect("it is read").0
    }

    #[test]
    fn text_and_numbers_are_the_same() {
        let text = r#"{"dims": "4X2", "bandwidth": "400Gbps", "startup": "1.7us", "hop_delay": "30ns", "window": "20us",
            "reconfiguration_delay": ["10us", "3ms"], "ports": 2}"#;
        let numbers = r#"{"gpus": 8, "dims": [4, 2], "bandwidth": 4e11, "startup": 1.7e-6, "hop_delay": 30e-9,
            "window": 20e-6, "reconfiguration_delay": [10e-6, 0.003], "ports": 2, "optics": null}"#;
        assert_eq!(fabric(text), fabric(numbers));
        assert_eq!(fabric(r#"{"gpus": 8}"#), AskedFabric::of(8));
    }

    #[test]
    fn every_option_is_read() {
        for name in NAMES {
            let gpus = if name == "gpus" { "" } else { r#""gpus": 8, "# };
            let refused = read(&format!(r#"{{{gpus}"{name}": {{}}}}"#)).expect_err(name);
            assert_eq!(refused.field(), name, "{refused}");
        }
        let asked = read(r#"{"gpus": 8, "candidates": ["ring"], "topology": "ring", "chunk_size": "4KiB", "seed": 7}"#);
        let (_, asked) = asked.expect("it is read");
        assert_eq!(asked.topology, asked.candidates);
        assert_eq!((asked.chunk_bytes, asked.seed), (Some(4096), Some(7)));
    }

    #[test]
    fn an_option_comes_once() {
        let refused = read(r#"{"gpus": 8, "ports": 2, "gpus": 16}"#).expect_err("gpus is there twice");
        assert!(refused.to_string().contains("`gpus` is there twice"), "{refused}");
        for text in ["[]", "8", r#"{"gpus": 8"#, ""] {
            let refused = read(text).expect_err(text).to_string();
            assert!(refused.contains("it takes a JSON object"), "{refused}");
        }
    }

    #[test]
    fn ranges_that_are_stated_hold() {
        for range in ranges::WHOLES {
            let gpus = if range.name == "gpus" { "" } else { r#""gpus": 8, "# };
            let edges = [range.least.wrapping_sub(1), range.most.wrapping_add(1), i64::MAX as u64];
            for wrong in edges.into_iter().filter(|number| !range.contains(*number)) {
                let refused = read(&format!(r#"{{{gpus}"{}": {wrong}}}"#, range.name)).expect_err(range.name);
                assert_eq!(refused, Error::value(range.name, wrong, range.accepts()));
            }
        }
    }

    #[test]
    fn numbers_too_small_for_a_float_are_not_zero() {
        for (name, small) in [("startup", "1e-400"), ("hop_delay", "5e-324"), ("reconfiguration_delay", "0.1E-999")] {
            let refused = read(&format!(r#"{{"gpus": 8, "{name}": {small}}}"#)).expect_err(small);
            assert_eq!(refused.field(), name, "{refused}");
        }
        assert_eq!(fabric(r#"{"gpus": 8, "startup": 0e-400}"#).startup_s, 0.0);
    }

    #[test]
    fn quantities_are_spelled_as_everywhere() {
        for text in ["100GBps", "100Gb/s", "1GiB/s", "100GBPS", "100gbps", "1e-5Tbps"] {
            let found =
                read(&format!(r#"{{"gpus": 8, "bandwidth": "{text}"}}"#)).map(|(fabric, _)| fabric.bandwidth_bps);
            assert_eq!(found, units::parse_rate("bandwidth", text));
        }
    }

    proptest! {
        #[test]
        fn what_is_refused_names_an_option(
            options in prop::collection::btree_map(prop::sample::select(&NAMES[..]), value(), 0..5),
        ) {
            let text = serde_json::to_string(&options).expect("JSON");
            let stated = read(&text).and_then(|(fabric, _)| fabric.stated().map(|_| ()));
            if let Err(error) = stated {
                prop_assert!(NAMES.contains(&error.field()), "{error}");
            }
        }
    }

    fn value() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            (0u32..100).prop_map(Value::from),
            prop::sample::select(vec![
                "10us",
                "800Gbps",
                "ring",
                "4x4",
                "1=3us",
                "islands:4x2",
                "",
                "\n",
                "é",
                "1e999s"
            ])
            .prop_map(Value::from),
            prop::collection::vec((0u32..9).prop_map(Value::from), 0..4).prop_map(Value::from),
        ]
    }
}
