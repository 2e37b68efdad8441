//! Instructions for switches survive JSON, and nothing that no switch can do gets in.

use lightloom_formats::{circuits_from_json, circuits_to_json};
use model::{Circuits, Configuration, ConfigurationEvents, Connection, Switch, SwitchSetting};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Partial permutations of the ports of each switch, one a configuration.
fn any_circuits() -> impl Strategy<Value = Circuits> {
    (1u32..7, 1usize..4, 1usize..5).prop_flat_map(|(ports, switches, configurations)| {
        let joined = Just((1..=ports).collect::<Vec<u32>>())
            .prop_shuffle()
            .prop_flat_map(move |egress| (Just(egress), prop::collection::vec(any::<bool>(), ports as usize)));
        let setting = prop::collection::vec(joined, switches);
        (Just(ports), prop::collection::vec((setting, 0.0..1.0f64), configurations)).prop_map(|(ports, drawn)| {
            let named = |index| Switch { name: format!("switch \"{index}\" é"), ports };
            let switches = drawn[0].0.len();
            let mut before = vec![Vec::new(); switches];
            let mut time_s = 0.0;
            let mut configurations = Vec::new();
            for (step, (settings, later_s)) in drawn.into_iter().enumerate() {
                let of_switch = |(place, (egress, lit)): (usize, (Vec<u32>, Vec<bool>))| {
                    let pairs = (1..).zip(egress).zip(lit).filter(|(_, lit)| *lit);
                    let now = pairs.map(|((ingress, egress), _)| Connection { ingress, egress }).collect();
                    SwitchSetting::after(&before[place], now)
                };
                let settings: Vec<SwitchSetting> = settings.into_iter().enumerate().map(of_switch).collect();
                before = settings.iter().map(|setting| setting.connections.clone()).collect();
                time_s += later_s;
                configurations.push(Configuration {
                    topology: step % 2,
                    steps: vec![step],
                    time_s,
                    switches: settings,
                    events: (step % 2 == 1).then(|| ConfigurationEvents {
                        after: vec![format!("\"{step}\"")],
                        before: vec!["é".into()],
                        steps: vec![step],
                    }),
                });
            }
            Circuits::new((0..switches).map(named).collect(), configurations).unwrap()
        })
    })
}

/// Every place of a document.
fn places(value: &Value) -> Vec<String> {
    let children: Vec<(String, &Value)> = match value {
        Value::Array(items) => items.iter().enumerate().map(|(index, item)| (format!("/{index}"), item)).collect(),
        Value::Object(fields) => fields.iter().map(|(key, item)| (format!("/{key}"), item)).collect(),
        _ => vec![],
    };
    let deeper = children.into_iter().flat_map(|(step, child)| {
        let below = places(child);
        below.into_iter().map(move |place| format!("{step}{place}"))
    });
    std::iter::once(String::new()).chain(deeper).collect()
}

proptest! {
    #[test]
    fn what_is_written_reads_back(circuits in any_circuits()) {
        let text = circuits_to_json(&circuits);
        let again = circuits_from_json(&text).unwrap();
        prop_assert_eq!(&again, &circuits);
        prop_assert_eq!(circuits_to_json(&again), text);
    }

    #[test]
    fn following_the_changes_gives_every_configuration(circuits in any_circuits()) {
        let document: Value = serde_json::from_str(&circuits_to_json(&circuits)).unwrap();
        let mut joined = vec![Vec::<Value>::new(); circuits.switches().len()];
        for configuration in document["configurations"].as_array().unwrap() {
            for (state, told) in joined.iter_mut().zip(configuration["switches"].as_array().unwrap()) {
                state.retain(|pair| !told["disconnect"].as_array().unwrap().contains(pair));
                state.extend(told["connect"].as_array().unwrap().iter().cloned());
                state.sort_by_key(|pair| pair[0].as_u64());
                prop_assert_eq!(&Value::Array(state.clone()), &told["connections"]);
            }
        }
    }

    /// One value replaced by another: the same circuits, others that a switch can do, or one line.
    #[test]
    fn a_changed_value_is_read_or_refused_in_one_line(
        (circuits, place, value) in (any_circuits(), any::<prop::sample::Index>(), prop_oneof![
            Just(json!(null)), Just(json!(-1)), Just(json!(0)), Just(json!(1)), Just(json!(1e300)), Just(json!("a\nb")),
            Just(json!([])), Just(json!({})), Just(json!([[1, 1], [1, 2]])), Just(json!(4_294_967_296u64)),
        ])
    ) {
        let mut document: Value = serde_json::from_str(&circuits_to_json(&circuits)).unwrap();
        let all = places(&document);
        let place: &String = place.get(&all);
        *document.pointer_mut(place).unwrap() = value;
        match circuits_from_json(&document.to_string()) {
            Ok(read) => prop_assert_eq!(circuits_from_json(&circuits_to_json(&read)).unwrap(), read),
            Err(error) => prop_assert!(!error.to_string().contains('\n') && error.field().starts_with("circuits")),
        }
    }

    #[test]
    fn any_text_is_refused_in_one_line(text in ".{0,200}") {
        let error = circuits_from_json(&text).unwrap_err().to_string();
        prop_assert!(!error.contains('\n'));
    }
}
