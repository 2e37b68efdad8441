//! Options as pairs of texts, as the command line has them, in the form that JSON gives them.

use model::ranges;
use model::{Error, Result};
use serde_json::{Map, Value};
use topologies::candidates;

use super::names::{FLAGS, LISTS, NAMES};

/// Options by name: names with hyphens, as the command line writes them, or as JSON does; values as the command line takes
/// them.
///
/// # Errors
/// An option that there is not, or that comes twice.
pub fn given<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Map<String, Value>> {
    let mut found = Map::new();
    for (written, text) in pairs {
        let name = written.strip_prefix("--").unwrap_or(written).replace('-', "_");
        let Some(name) = NAMES.into_iter().find(|known| *known == name) else {
            return Err(model::unknown_name("options", written, NAMES));
        };
        if found.insert(name.to_string(), value_of(name, text)).is_some() {
            return Err(Error::malformed(name, "it is there twice"));
        }
    }
    Ok(found)
}

/// A text as the value that JSON has in its place; as it is where it is none of its kind, to be refused as such.
fn value_of(name: &str, text: &str) -> Value {
    let typed = if ranges::whole(name).is_some() {
        text.parse::<u64>().ok().map(Value::from)
    } else if FLAGS.contains(&name) {
        text.parse::<bool>().ok().map(Value::from)
    } else if LISTS.contains(&name) {
        Some(split_names(text).into_iter().map(Value::from).collect())
    } else {
        None
    };
    typed.unwrap_or_else(|| Value::from(text))
}

/// The items of a list such as `ring,circulant:1,5,torus:4x4`.
///
/// Commas separate items and also a topology's parameters: a part that names no topology and no candidate family belongs
/// to the parameters before it. Semicolons always separate.
fn split_names(text: &str) -> Vec<String> {
    if text.contains(';') {
        return text.split(';').map(|item| item.trim().to_string()).collect();
    }
    let is_known = |part: &str| {
        let name = part.split(':').next().unwrap_or_default();
        topologies::REGISTRY.iter().any(|family| family.name() == name)
            || candidates::REGISTRY.iter().any(|family| family.name() == name)
    };
    let mut items: Vec<String> = Vec::new();
    for part in text.split(',').map(str::trim) {
        match items.last_mut() {
            Some(last) if last.contains(':') && !is_known(part) => {
                last.push(',');
                last.push_str(part);
            }
            _ => items.push(part.to_string()),
        }
    }
    items
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::options::{read, read_pairs};

    #[test]
    fn pairs_are_what_json_says() {
        let pairs = [
            ("gpus", "8"),
            ("dims", "4x2"),
            ("ports", "2"),
            ("--hop-delay", "30ns"),
            ("bandwidth", "400Gbps"),
            ("startup", "1.7us"),
            ("reconfiguration-delay", "10us,3ms"),
            ("window", "20us"),
            ("background_reconfiguration", "true"),
            ("candidates", "ring, circulant:1,3, torus:4x2"),
            ("topology", "ring"),
            ("chunk-size", "4KiB"),
            ("budget", "2s"),
            ("seed", "7"),
        ];
        let json = r#"{"gpus": 8, "dims": "4x2", "ports": 2, "hop_delay": "30ns", "bandwidth": "400Gbps", "startup": "1.7us",
            "reconfiguration_delay": "10us,3ms", "window": "20us", "background_reconfiguration": true,
            "candidates": ["ring", "circulant:1,3", "torus:4x2"], "topology": ["ring"], "chunk_size": "4KiB",
            "budget": "2s", "seed": 7}"#;
        let found = read_pairs(pairs).expect("pairs");
        assert_eq!(format!("{found:?}"), format!("{:?}", read(json).expect("JSON")));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let cases = [
            ([("gpus", "8"), ("gpu", "8")], "options", "did you mean `gpus`"),
            ([("gpus", "8"), ("gpus", "8")], "gpus", "twice"),
            ([("gpus", "8"), ("hop-delay", "1")], "hop_delay", "it takes"),
            ([("gpus", "8"), ("ports", "two")], "ports", "whole number"),
            ([("gpus", "8"), ("background-reconfiguration", "yes")], "background_reconfiguration", "true or false"),
            ([("gpus", "8"), ("dims", "")], "dims", "sizes such as"),
        ];
        for (pairs, field, part) in cases {
            let error = read_pairs(pairs).expect_err(part);
            assert_eq!(error.field(), field);
            assert!(error.to_string().contains(part), "{error}");
        }
        assert_eq!(read_pairs([]).expect_err("no GPUs").field(), "gpus");
    }

    #[test]
    fn lists_are_split_as_on_the_command_line() {
        assert_eq!(split_names("ring,circulant:1,5,torus:4x4"), ["ring", "circulant:1,5", "torus:4x4"]);
        assert_eq!(split_names("circulant:1,5;ring"), ["circulant:1,5", "ring"]);
        assert_eq!(split_names("ring"), ["ring"]);
        assert_eq!(split_names(""), [""]);
    }

    proptest! {
        #[test]
        fn any_texts_are_a_fabric_or_name_an_option(
            pairs in prop::collection::vec((any_name(), any_value()), 0..6),
        ) {
            let pairs: Vec<(&str, &str)> = pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            let stated = read_pairs(pairs).and_then(|(fabric, _)| fabric.stated().map(|_| ()));
            if let Err(error) = stated {
                prop_assert!(NAMES.contains(&error.field()) || error.field() == "options", "{error}");
            }
        }

        #[test]
        fn no_item_of_a_list_is_lost(items in prop::collection::vec("[a-z0-9:.]{1,6}", 1..5)) {
            prop_assert_eq!(split_names(&items.join(";")), items.clone());
            prop_assert_eq!(split_names(&items.join(",")).join(","), items.join(","));
        }
    }

    fn any_name() -> impl Strategy<Value = String> {
        let known = prop::sample::select(&NAMES[..]).prop_map(|name| name.replace('_', "-"));
        prop_oneof![8 => known, 1 => any::<String>()]
    }

    fn any_value() -> impl Strategy<Value = String> {
        let texts = [
            "8",
            "64",
            "0",
            "-1",
            "4x2",
            "10us",
            "1e999s",
            "20ns/port",
            "800Gbps",
            "4KiB",
            "ring",
            "torus:4x2,ring",
            "circulant:1,3",
            "islands:4x2",
            "mesh:4x4",
            "1=20us,5=3us",
            "true",
            "",
            ",",
            ";",
            "mems-3d",
        ];
        prop_oneof![6 => prop::sample::select(texts.to_vec()).prop_map(str::to_string), 1 => any::<String>()]
    }

    #[test]
    fn every_option_is_of_one_kind() {
        for name in NAMES {
            let kinds = [ranges::whole(name).is_some(), FLAGS.contains(&name), LISTS.contains(&name)];
            assert!(kinds.iter().filter(|is_so| **is_so).count() <= 1, "{name}");
            // A text that JSON would take is taken, or refused by what it means.
            let gpus = if name == "gpus" { "" } else { r#""gpus": 8, "# };
            let json = format!(r#"{{{gpus}"{name}": "?"}}"#);
            let refused = read_pairs([("gpus", "8"), (name, "?")].into_iter().skip(usize::from(name == "gpus")));
            assert_eq!(refused.is_err(), read(&json).is_err(), "{name}");
        }
        for name in ranges::WHOLES.map(|range| range.name).into_iter().chain(FLAGS).chain(LISTS) {
            assert!(NAMES.contains(&name), "{name}");
        }
    }
}
