//! Instructions for switches as JSON, version `lightloom.circuits/1`. Times are seconds, ports are numbered from 1;
//! keys are exactly those that [`circuits_to_json`] writes, none may be missing and no other is taken; `events` is there
//! in the circuits of an iteration, `mesh`, `light` and `mzis` where a mesh of MZIs is the switch, `mesh` not in the
//! oldest files; `launch_power` and `launch_mw` where the power of lasers is known, `energy` where their efficiency is.

mod mesh;

use model::{
    Circuits, Configuration, ConfigurationEvents, Connection, Error, Light, LightPath, MziPort, MziState, Result,
    Switch, SwitchSetting,
};
use serde::Deserialize;
use serde_json::{Value, json};

use self::mesh::{
    EnergyText, FibreDelayText, MeshText, energy_of, energy_text, fibre_delay_of, fibre_delay_text, mesh_of, mesh_text,
};
use crate::json_errors::in_words;
use crate::one_line::one_line;

/// The version that is written and read.
pub const CIRCUITS_SCHEMA: &str = "lightloom.circuits/1";

/// Longer texts are refused before they are parsed.
const MAX_BYTES: usize = 256 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CircuitsText {
    schema: String,
    switches: Vec<SwitchText>,
    mesh: Option<MeshText>,
    energy: Option<EnergyText>,
    fibre_delay: Option<FibreDelayText>,
    configurations: Vec<ConfigurationText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SwitchText {
    name: String,
    ports: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfigurationText {
    topology: usize,
    steps: Vec<usize>,
    time_s: f64,
    events: Option<EventsText>,
    switches: Vec<SettingText>,
    light: Option<Vec<LightText>>,
    mzis: Option<Vec<MziText>>,
}

/// The events of an iteration, by the ids of their nodes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EventsText {
    after: Vec<String>,
    before: Vec<String>,
    steps: Vec<usize>,
}

/// The way of a circuit through a mesh.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LightText {
    ingress: u32,
    egress: u32,
    mzis: Vec<u32>,
    waveguides: Vec<u32>,
    wavelength: u32,
    loss_db: f64,
    launch_mw: Option<f64>,
    fibre_m: Option<f64>,
}

/// The setting of an MZI: where light comes in and goes out, and its number among the waveguides there.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MziText {
    mzi: u32,
    wavelength: u32,
    from: (PortName, u32),
    to: (PortName, u32),
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum PortName {
    North,
    East,
    South,
    West,
    Tile,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SettingText {
    name: String,
    connections: Vec<(u32, u32)>,
    connect: Vec<(u32, u32)>,
    disconnect: Vec<(u32, u32)>,
    #[serde(default)]
    wavelengths: Vec<u32>,
}

/// `circuits` as JSON, one line per switch of a configuration. Times are written so that they read back to the bit.
pub fn circuits_to_json(circuits: &Circuits) -> String {
    let switches: Vec<String> = circuits
        .switches()
        .iter()
        .map(|switch| format!("    {{\"name\": {}, \"ports\": {}}}", json!(switch.name), switch.ports))
        .collect();
    let configurations: Vec<String> = circuits
        .configurations()
        .iter()
        .enumerate()
        .map(|(index, configuration)| {
            configuration_text(configuration, circuits.switches(), circuits.light().get(index))
        })
        .collect();
    format!(
        "{{\n  \"schema\": \"{CIRCUITS_SCHEMA}\",\n  \"switches\": [\n{}\n  ],\n{}{}{}  \"configurations\": [\n{}\n  ]\n}}\n",
        switches.join(",\n"),
        circuits.mesh().map(mesh_text).unwrap_or_default(),
        circuits.energy().map(energy_text).unwrap_or_default(),
        circuits.fibre_delay().map(fibre_delay_text).unwrap_or_default(),
        configurations.join(",\n")
    )
}

fn configuration_text(configuration: &Configuration, switches: &[Switch], light: Option<&Light>) -> String {
    let Configuration { topology, steps, time_s, switches: settings, events } = configuration;
    let settings: Vec<String> = switches
        .iter()
        .zip(settings)
        .map(|(switch, setting)| {
            let SwitchSetting { connections, connect, disconnect, wavelengths } = setting;
            let [connections, connect, disconnect] = [connections, connect, disconnect].map(|list| pairs(list));
            let wavelengths = match wavelengths.is_empty() {
                true => String::new(),
                false => format!(", \"wavelengths\": {}", json!(wavelengths)),
            };
            format!(
                "      {{\"name\": {}, \"connections\": {connections}, \"connect\": {connect}, \
                 \"disconnect\": {disconnect}{wavelengths}}}",
                json!(switch.name)
            )
        })
        .collect();
    format!(
        "    {{\"topology\": {topology}, \"steps\": {}, \"time_s\": {}{}, \"switches\": [\n{}\n    ]{}}}",
        json!(steps),
        Value::from(*time_s),
        events.as_ref().map(events_text).unwrap_or_default(),
        settings.join(",\n"),
        light.map(light_text).unwrap_or_default()
    )
}

fn events_text(events: &ConfigurationEvents) -> String {
    let ConfigurationEvents { after, before, steps } = events;
    let [after, before, steps] = [json!(after), json!(before), json!(steps)];
    format!(", \"events\": {{\"after\": {after}, \"before\": {before}, \"steps\": {steps}}}")
}

/// The keys of light, one line a circuit and an MZI.
fn light_text(light: &Light) -> String {
    let paths = light.paths.iter().map(|path| {
        let LightPath { connection, mzis, waveguides, wavelength, loss_db, launch_mw, fibre_m } = path;
        let fibres = fibre_m.map(|metres| format!(", \"fibre_m\": {}", Value::from(metres))).unwrap_or_default();
        let launch = launch_mw.map(|mw| format!(", \"launch_mw\": {}", Value::from(mw))).unwrap_or_default();
        let Connection { ingress, egress } = connection;
        format!(
            "      {{\"ingress\": {ingress}, \"egress\": {egress}, \"mzis\": {}, \"waveguides\": {}, \
             \"wavelength\": {wavelength}, \"loss_db\": {}{launch}{fibres}}}",
            json!(mzis),
            json!(waveguides),
            Value::from(*loss_db)
        )
    });
    let port = |port: MziPort| match port {
        MziPort::North(number) => json!(["north", number]),
        MziPort::East(number) => json!(["east", number]),
        MziPort::South(number) => json!(["south", number]),
        MziPort::West(number) => json!(["west", number]),
        MziPort::Tile(number) => json!(["tile", number]),
    };
    let mzis = light.mzis.iter().map(|state| {
        let MziState { mzi, wavelength, input, output } = *state;
        let (from, to) = (port(input), port(output));
        format!("      {{\"mzi\": {mzi}, \"wavelength\": {wavelength}, \"from\": {from}, \"to\": {to}}}")
    });
    let [paths, mzis] = [paths.collect::<Vec<_>>(), mzis.collect()].map(|lines| lines.join(",\n"));
    format!(", \"light\": [\n{paths}\n    ], \"mzis\": [\n{mzis}\n    ]")
}

fn pairs(list: &[Connection]) -> String {
    let pairs: Vec<String> = list.iter().map(|one| format!("[{},{}]", one.ingress, one.egress)).collect();
    format!("[{}]", pairs.join(","))
}

/// The instructions for switches that `text` holds; the inverse of [`circuits_to_json`].
///
/// # Errors
/// Text that is not JSON, of another schema, with a key missing, unknown or of the wrong type, or that switches cannot
/// do ([`Circuits::new`]). Whether it is what a plan needs is for the verifier to say.
pub fn circuits_from_json(text: &str) -> Result<Circuits> {
    if text.len() > MAX_BYTES {
        return Err(Error::malformed(
            "circuits",
            format!("{} bytes of text; at most {MAX_BYTES} are read", text.len()),
        ));
    }
    let parsed = parse(text)?;
    let switches: Vec<Switch> =
        parsed.switches.into_iter().map(|SwitchText { name, ports }| Switch { name, ports }).collect();
    let mut configurations = Vec::with_capacity(parsed.configurations.len());
    let mut light = Vec::new();
    for (index, configuration) in parsed.configurations.into_iter().enumerate() {
        let ConfigurationText { topology, steps, time_s, events, switches: settings, light: paths, mzis } =
            configuration;
        if let Some(lit) = light_of(index, paths, mzis)? {
            light.push(lit);
        }
        let mut of_switches = Vec::with_capacity(settings.len());
        for (place, setting) in settings.into_iter().enumerate() {
            if switches.get(place).is_some_and(|switch| switch.name != setting.name) {
                let field = format!("circuits.configurations[{index}].switches[{place}].name");
                let reason = format!(
                    "it is `{}`; circuits.switches[{place}].name is `{}`",
                    one_line(&setting.name),
                    switches[place].name
                );
                return Err(Error::malformed(field, one_line(&reason)));
            }
            let [connections, connect, disconnect] =
                [setting.connections, setting.connect, setting.disconnect].map(listed);
            of_switches.push(SwitchSetting { connections, connect, disconnect, wavelengths: setting.wavelengths });
        }
        let events = events.map(|EventsText { after, before, steps }| ConfigurationEvents { after, before, steps });
        configurations.push(Configuration { topology, steps, time_s, switches: of_switches, events });
    }
    let circuits = Circuits::new(switches, configurations)?.with_light(light)?;
    let circuits = match parsed.mesh {
        Some(mesh) => circuits.with_mesh(mesh_of(mesh))?,
        None => circuits,
    };
    let circuits = match parsed.energy {
        Some(energy) => circuits.with_energy(energy_of(energy))?,
        None => circuits,
    };
    match parsed.fibre_delay {
        Some(delay) => circuits.with_fibre_delay(fibre_delay_of(delay)),
        None => Ok(circuits),
    }
}

fn light_of(index: usize, paths: Option<Vec<LightText>>, mzis: Option<Vec<MziText>>) -> Result<Option<Light>> {
    let (paths, mzis) = match (paths, mzis) {
        (Some(paths), Some(mzis)) => (paths, mzis),
        (None, None) => return Ok(None),
        _ => {
            let field = format!("circuits.configurations[{index}]");
            return Err(Error::malformed(field, "there must be both light and mzis, or neither"));
        }
    };
    let paths = paths.into_iter().map(|path| {
        let LightText { ingress, egress, mzis, waveguides, wavelength, loss_db, launch_mw, fibre_m } = path;
        LightPath {
            connection: Connection { ingress, egress },
            mzis,
            waveguides,
            wavelength,
            loss_db,
            launch_mw,
            fibre_m,
        }
    });
    let port = |(name, number): (PortName, u32)| match name {
        PortName::North => MziPort::North(number),
        PortName::East => MziPort::East(number),
        PortName::South => MziPort::South(number),
        PortName::West => MziPort::West(number),
        PortName::Tile => MziPort::Tile(number),
    };
    let mzis = mzis.into_iter().map(|MziText { mzi, wavelength, from, to }| MziState {
        mzi,
        wavelength,
        input: port(from),
        output: port(to),
    });
    Ok(Some(Light { paths: paths.collect(), mzis: mzis.collect() }))
}

fn listed(pairs: Vec<(u32, u32)>) -> Vec<Connection> {
    pairs.into_iter().map(|(ingress, egress)| Connection { ingress, egress }).collect()
}

fn parse(text: &str) -> Result<CircuitsText> {
    let mut json = serde_json::Deserializer::from_str(text);
    let parsed: CircuitsText = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        // A document of another version fails on some key first; its version is the better answer.
        other_schema(text).unwrap_or_else(|| {
            let place = match error.path().to_string().as_str() {
                "." => "circuits".to_string(),
                path => format!("circuits.{path}"),
            };
            Error::malformed(one_line(&place), in_words(error.inner()))
        })
    })?;
    json.end().map_err(|error| Error::malformed("circuits", in_words(&error)))?;
    if parsed.schema == CIRCUITS_SCHEMA { Ok(parsed) } else { Err(wrong_schema(&parsed.schema)) }
}

fn other_schema(text: &str) -> Option<Error> {
    #[derive(Deserialize)]
    struct Version {
        schema: String,
    }
    let version: Version = serde_json::from_str(text).ok()?;
    (version.schema != CIRCUITS_SCHEMA).then(|| wrong_schema(&version.schema))
}

fn wrong_schema(found: &str) -> Error {
    Error::malformed("circuits.schema", format!("it is `{}`; `{CIRCUITS_SCHEMA}` is read", one_line(found)))
}
