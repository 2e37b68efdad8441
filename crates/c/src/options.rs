//! Options as JSON: the names, units and defaults of the command line.

use formats::Ordered;
use lightloom::options::{Given, Value};
use model::{Error, Result};
use serde_json::Value as Json;
use serde_json::value::RawValue;

/// The options of a JSON object.
///
/// # Errors
/// Text that is no JSON object, an option that there is not or that comes twice.
pub fn read(text: &str) -> Result<Given> {
    let refuse = |error: serde_json::Error| {
        Error::malformed("options", format!(r#"{error}; it takes a JSON object such as {{"gpus": 64}}"#))
    };
    let given: Ordered<&RawValue> = serde_json::from_str(text).map_err(refuse)?;
    let values = given.0.into_iter().map(|(name, raw)| Ok((name, value_of_text(raw.get())?)));
    let values: Vec<_> = values.collect::<serde_json::Result<_>>().map_err(refuse)?;
    Given::new(values.into_iter().filter_map(|(name, value)| Some((name, value?))))
}

/// The value of a JSON text; `None` for null. A number that is too small for a float is not zero: it stays the text,
/// which no option takes.
fn value_of_text(text: &str) -> serde_json::Result<Option<Value>> {
    let value = value_of(&serde_json::from_str(text)?);
    let digits = text.split(['e', 'E']).next().unwrap_or_default();
    let is_lost = value == Some(Value::Number(0.0)) && digits.contains(|digit: char| ('1'..='9').contains(&digit));
    Ok(if is_lost { Some(Value::from(text)) } else { value })
}

fn value_of(value: &Json) -> Option<Value> {
    Some(match value {
        Json::Null => return None,
        Json::Bool(truth) => Value::Truth(*truth),
        Json::Number(number) => match (number.as_i128(), number.as_f64()) {
            (Some(whole), _) => Value::Whole(whole),
            (None, Some(number)) => Value::Number(number),
            (None, None) => Value::Other(number.to_string()),
        },
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(items) => Value::List(items.iter().map(|item| value_of(item).unwrap_or(shown(item))).collect()),
        Json::Object(_) => shown(value),
    })
}

/// A value that no option takes.
fn shown(value: &Json) -> Value {
    Value::Other(value.to_string())
}

#[cfg(test)]
mod tests {
    use lightloom::TextFabric;
    use lightloom::options::OPTIONS;
    use model::units;
    use proptest::prelude::*;

    use super::*;

    fn fabric(text: &str) -> Result<TextFabric> {
        TextFabric::read(&read(text)?)
    }

    #[test]
    fn text_and_numbers_are_the_same() {
        let text = r#"{"dims": "4X2", "bandwidth": "400Gbps", "startup": "1.7us", "hop_delay": "30ns", "window": "20us",
            "barrier": "4us", "reconfiguration_delay": ["10us", "3ms"], "ports": 2}"#;
        let numbers = r#"{"dims": [4, 2], "bandwidth": 4e11, "startup": 1.7e-6, "hop_delay": 30e-9,
            "barrier": 4e-6, "window": 20e-6, "reconfiguration_delay": [10e-6, 0.003], "ports": 2, "optics": null}"#;
        assert_eq!(fabric(text).expect("text"), fabric(numbers).expect("numbers"));
    }

    #[test]
    fn an_option_comes_once() {
        let refused = read(r#"{"gpus": 8, "ports": 2, "gpus": 16}"#).expect_err("gpus is given twice");
        assert!(refused.to_string().contains("`gpus` is given twice"), "{refused}");
        for text in ["[]", "8", r#"{"gpus": 8"#, ""] {
            let refused = read(text).expect_err(text).to_string();
            assert!(refused.contains("it takes a JSON object"), "{refused}");
        }
    }

    #[test]
    fn numbers_too_small_for_a_float_are_not_zero() {
        for (name, small) in [("startup", "1e-400"), ("hop_delay", "5e-324"), ("reconfiguration_delay", "0.1E-999")] {
            let refused = fabric(&format!(r#"{{"gpus": 8, "{name}": {small}}}"#)).expect_err(small);
            assert_eq!(refused.field(), name, "{refused}");
        }
        assert_eq!(fabric(r#"{"gpus": 8, "startup": 0e-400}"#).expect("zero").startup_s, 0.0);
    }

    #[test]
    fn quantities_are_spelled_as_everywhere() {
        for text in ["100GBps", "100Gb/s", "1GiB/s", "100GBPS", "100gbps", "1e-5Tbps"] {
            let found = fabric(&format!(r#"{{"gpus": 8, "bandwidth": "{text}"}}"#)).map(|fabric| fabric.bandwidth_bps);
            assert_eq!(found, units::parse_rate("bandwidth", text).map(|rate| vec![rate]));
        }
    }

    proptest! {
        #[test]
        fn what_is_refused_names_an_option(options in prop::collection::btree_map(any_name(), any_value(), 0..5)) {
            let text = serde_json::to_string(&options).expect("JSON");
            let stated = fabric(&text).and_then(|fabric| fabric.stated().map(|_| ()));
            if let Err(error) = stated {
                prop_assert!(OPTIONS.iter().any(|option| option.name == error.field()), "{error}");
            }
        }
    }

    fn any_name() -> impl Strategy<Value = &'static str> {
        let names: Vec<_> = OPTIONS.iter().filter(|option| option.is_read()).map(|option| option.name).collect();
        prop::sample::select(names)
    }

    fn any_value() -> impl Strategy<Value = Json> {
        let texts = vec!["10us", "800Gbps", "ring", "4x4", "1=3us", "islands:4x2", "", "\n", "é", "1e999s"];
        prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::from),
            any::<i64>().prop_map(Json::from),
            any::<f64>().prop_map(Json::from),
            (0u32..100).prop_map(Json::from),
            prop::sample::select(texts).prop_map(Json::from),
            prop::collection::vec((0u32..9).prop_map(Json::from), 0..4).prop_map(Json::from),
        ]
    }
}
