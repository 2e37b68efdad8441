//! Planning options: as text or as values, one reader, whose errors name the option.

use lightloom::options::{Given, Kind, OPTIONS, PlanningOption, Value};
use lightloom::{TextFabric, TextRequest};
use model::{Error, Result};
use proptest::prelude::*;

fn read(given: &Given) -> Result<(TextFabric, TextRequest)> {
    Ok((TextFabric::read(given)?, TextRequest::read(given)?))
}

fn of_texts(pairs: &[(&str, &str)]) -> Result<(TextFabric, TextRequest)> {
    read(&Given::of_texts(pairs.iter().copied())?)
}

fn of_values(values: Vec<(&str, Value)>) -> Result<(TextFabric, TextRequest)> {
    read(&Given::new(values)?)
}

fn readable() -> impl Iterator<Item = &'static PlanningOption> {
    OPTIONS.iter().filter(|option| option.is_read())
}

#[test]
fn texts_are_what_values_say() {
    let texts = [
        ("gpus", "8"),
        ("dims", "4x2"),
        ("ports", "2"),
        ("--hop-delay", "30ns"),
        ("bandwidth", "400Gbps"),
        ("startup", "1.7us"),
        ("reconfiguration-delay", "10us,3ms"),
        ("window", "20us"),
        ("background_reconfiguration", "true"),
        ("candidates", "ring, circulant:1,3, torus:4x2, ring"),
        ("topology", "ring"),
        ("chunk-size", "4KiB"),
        ("budget", "2s"),
        ("seed", "7"),
        ("planner", "auto"),
    ];
    let list = |names: &[&str]| Value::List(names.iter().map(|name| Value::from(*name)).collect());
    let values = vec![
        ("gpus", Value::Whole(8)),
        ("dims", Value::List(vec![Value::Whole(4), Value::Whole(2)])),
        ("ports", Value::Whole(2)),
        ("hop_delay", Value::Number(30e-9)),
        ("bandwidth", Value::Number(4e11)),
        ("startup", Value::Number(1.7e-6)),
        ("reconfiguration_delay", Value::List(vec![Value::from("10us"), Value::Number(0.003)])),
        ("window", Value::Number(20e-6)),
        ("background_reconfiguration", Value::Truth(true)),
        ("candidates", list(&["ring", "circulant:1,3", "torus:4x2"])),
        ("topology", list(&["ring"])),
        ("chunk_size", Value::Whole(4096)),
        ("budget", Value::Whole(2)),
        ("seed", Value::Whole(7)),
    ];
    assert_eq!(of_texts(&texts), of_values(values));
}

#[test]
fn every_default_is_one_of_its_kind() {
    let (fabric, _) = of_texts(&[]).expect("defaults");
    assert_eq!((fabric.ports, fabric.bandwidth_bps), (1, vec![800e9]));
    assert_eq!((fabric.startup_s, fabric.hop_delay_s), (500e-9, 500e-9));
    assert_eq!(fabric.reconfiguration_delay.scalar_s(), Some(10e-6));
    for option in readable() {
        let Some(default) = option.default else { continue };
        assert_eq!(of_texts(&[(option.name, default)]), of_texts(&[]), "{}", option.name);
    }
}

#[test]
fn every_option_is_read_and_named_where_it_is_wrong() {
    for option in readable() {
        let refused = of_values(vec![(option.name, Value::Other("{}".into()))]).expect_err(option.name);
        assert_eq!(refused.field(), option.name, "{refused}");
        assert!(refused.to_string().contains("`{}` is not accepted; it takes "), "{refused}");
    }
}

#[test]
fn ranges_that_are_stated_hold() {
    for option in readable().filter(|option| option.kind == Kind::Whole) {
        let range = option.range().expect(option.name);
        assert!(of_values(vec![(option.name, Value::Whole(range.least.into()))]).is_ok(), "{}", option.name);
        let edges = [i128::from(range.least) - 1, i128::from(range.most) + 1, i128::MAX, -1];
        for wrong in edges {
            let refused = of_values(vec![(option.name, Value::Whole(wrong))]).expect_err(option.name);
            assert_eq!(refused, Error::value(option.name, format!("`{wrong}`"), range.accepts()));
        }
    }
}

#[test]
fn wrong_texts_are_named() {
    let cases = [
        ([("gpus", "8"), ("gpu", "8")], "options", "did you mean `gpus`"),
        ([("gpus", "8"), ("gpus", "8")], "gpus", "twice"),
        ([("gpus", "8"), ("hop-delay", "1")], "hop_delay", "it takes"),
        ([("gpus", "8"), ("ports", "two")], "ports", "whole number"),
        ([("gpus", "8"), ("background-reconfiguration", "yes")], "background_reconfiguration", "true or false"),
        ([("gpus", "8"), ("dims", "")], "dims", "sizes such as"),
        ([("gpus", "8"), ("candidates", "ring,,ring")], "candidates", "empty name"),
        ([("gpus", "8"), ("schedule", "mine.xml")], "schedule", "a schedule"),
        ([("gpus", "8"), ("size", "1MiB")], "options", "unknown name `size`"),
    ];
    for (pairs, field, part) in cases {
        let error = of_texts(&pairs).expect_err(part);
        assert_eq!(error.field(), field);
        assert!(error.to_string().contains(part), "{error}");
    }
    let open = of_texts(&[]).expect("no option").0.stated().expect_err("no GPUs");
    assert_eq!(open.field(), "gpus");
}

proptest! {
    #[test]
    fn any_texts_are_a_fabric_or_name_an_option(pairs in prop::collection::vec((any_name(), any_text()), 0..6)) {
        let pairs: Vec<(&str, &str)> = pairs.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let stated = of_texts(&pairs).and_then(|(fabric, _)| fabric.stated().map(|_| ()));
        if let Err(error) = stated {
            let is_option = OPTIONS.iter().any(|option| option.name == error.field());
            prop_assert!(is_option || error.field() == "options", "{error}");
        }
    }
}

fn any_name() -> impl Strategy<Value = String> {
    let names: Vec<_> = readable().map(|option| option.name.replace('_', "-")).collect();
    prop_oneof![8 => prop::sample::select(names), 1 => any::<String>()]
}

fn any_text() -> impl Strategy<Value = String> {
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
