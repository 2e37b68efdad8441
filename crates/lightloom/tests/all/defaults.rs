//! What is assumed of a fabric where nothing is said is what the preset `default` says, which Python's `Fabric` is held to.

use std::collections::BTreeMap;

use lightloom::AskedFabric;
use model::{ReconfigurationDelay, units};

#[test]
fn an_open_fabric_is_the_default_preset() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/lightloom/inputs/fabrics/default.toml");
    let text = std::fs::read_to_string(path).expect("the preset");
    let said: BTreeMap<&str, &str> = text
        .lines()
        .filter_map(|line| line.split_once(" = "))
        .map(|(key, value)| (key, value.trim_matches('"')))
        .collect();
    let open = AskedFabric::of(64);
    assert_eq!(said["ports"], open.ports.to_string());
    assert_eq!(units::parse_rate("bandwidth", said["bandwidth"]), Ok(open.bandwidth_bps));
    assert_eq!(units::parse_time("startup", said["startup"]), Ok(open.startup_s));
    assert_eq!(units::parse_time("hop_delay", said["hop_delay"]), Ok(open.hop_delay_s));
    let delay = ReconfigurationDelay::parse("reconfiguration_delay", said["reconfiguration_delay"]);
    assert_eq!(delay, Ok(open.reconfiguration_delay));
    assert_eq!(
        said.keys().copied().collect::<Vec<_>>(),
        ["bandwidth", "hop_delay", "ports", "reconfiguration_delay", "source", "startup", "summary"]
    );
}
