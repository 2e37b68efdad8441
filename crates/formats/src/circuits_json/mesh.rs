//! The construction of a mesh of MZIs in a file of circuits, and the energy of its lasers.

use model::{FibreDelay, FibreLengths, LaserEnergy, LaunchPower, MziMesh};
use serde::Deserialize;
use serde_json::{Value, json};

/// The construction of a mesh; grids as rows and columns. The limit on the loss is a number or null, and may not be
/// missing.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MeshText {
    mzis: [u32; 2],
    tiles: [u32; 2],
    interposers: [u32; 2],
    waveguides: u32,
    wavelengths: u32,
    fibres: u32,
    transmitters: u32,
    receivers: u32,
    tile_size_cm: f64,
    crossing_loss_db: f64,
    waveguide_loss_db_per_cm: f64,
    coupling_loss_db: f64,
    #[serde(deserialize_with = "Option::deserialize")]
    max_loss_db: Option<f64>,
    launch_power: Option<LaunchPowerText>,
    fibre_lengths: Option<FibreLengthsText>,
    interposer_order: Option<Vec<u32>>,
}

/// Where rows and columns of interposers are.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FibreLengthsText {
    row_positions_m: Vec<f64>,
    column_positions_m: Vec<f64>,
    fibre_delay_ns_per_m: f64,
}

/// The time of light through the fibres in a plan.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FibreDelayText {
    steps_s: Vec<f64>,
    total_s: f64,
}

/// The power that receivers need and the budgets of lasers. Limits are a number or null, and may not be missing.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LaunchPowerText {
    sensitivity_dbm: f64,
    margin_db: f64,
    #[serde(deserialize_with = "Option::deserialize")]
    max_launch_dbm: Option<f64>,
    #[serde(deserialize_with = "Option::deserialize")]
    max_tile_mw: Option<f64>,
    #[serde(deserialize_with = "Option::deserialize")]
    max_interposer_mw: Option<f64>,
    #[serde(deserialize_with = "Option::deserialize")]
    laser_efficiency: Option<f64>,
}

/// The energy of the lasers in a plan.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EnergyText {
    steps_j: Vec<f64>,
    changes_j: f64,
    total_j: f64,
    sent_bits: f64,
    picojoules_per_bit: f64,
}

pub(super) fn mesh_text(mesh: &MziMesh) -> String {
    let MziMesh { mzis, tiles, interposers, waveguides, wavelengths, fibres, transmitters, receivers, .. } = mesh;
    let [mzis, tiles, interposers] = [mzis, tiles, interposers].map(|[rows, columns]| format!("[{rows}, {columns}]"));
    let lengths = [mesh.tile_size_cm, mesh.crossing_loss_db, mesh.waveguide_loss_db_per_cm, mesh.coupling_loss_db];
    let [tile_size_cm, crossing_loss_db, waveguide_loss_db_per_cm, coupling_loss_db] = lengths.map(Value::from);
    let max_loss_db = json!(mesh.max_loss_db);
    let launch_power = mesh.launch_power.as_ref().map(launch_power_text).unwrap_or_default();
    let lengths = mesh.fibre_lengths.as_ref().map(fibre_lengths_text).unwrap_or_default();
    let order = mesh.interposer_order.as_ref().map(|order| format!(", \"interposer_order\": {}", json!(order)));
    let order = order.unwrap_or_default();
    format!(
        "  \"mesh\": {{\"mzis\": {mzis}, \"tiles\": {tiles}, \"interposers\": {interposers}, \
         \"waveguides\": {waveguides}, \"wavelengths\": {wavelengths}, \"fibres\": {fibres}, \
         \"transmitters\": {transmitters}, \"receivers\": {receivers}, \"tile_size_cm\": {tile_size_cm}, \
         \"crossing_loss_db\": {crossing_loss_db}, \"waveguide_loss_db_per_cm\": {waveguide_loss_db_per_cm}, \
         \"coupling_loss_db\": {coupling_loss_db}, \"max_loss_db\": {max_loss_db}{launch_power}{lengths}{order}}},\n"
    )
}

fn launch_power_text(power: &LaunchPower) -> String {
    let named = LaunchPower::KEYS.into_iter().zip(power.values());
    let told: Vec<String> = named.map(|(key, value)| format!("\"{key}\": {}", json!(value))).collect();
    format!(", \"launch_power\": {{{}}}", told.join(", "))
}

fn fibre_lengths_text(lengths: &FibreLengths) -> String {
    let FibreLengths { row_positions_m, column_positions_m, delay_ns_per_m } = lengths;
    format!(
        ", \"fibre_lengths\": {{\"row_positions_m\": {}, \"column_positions_m\": {}, \
         \"fibre_delay_ns_per_m\": {}}}",
        json!(row_positions_m),
        json!(column_positions_m),
        Value::from(*delay_ns_per_m)
    )
}

pub(super) fn fibre_delay_text(delay: &FibreDelay) -> String {
    let FibreDelay { steps_s, total_s } = delay;
    let (steps_s, total_s) = (json!(steps_s), Value::from(*total_s));
    format!("  \"fibre_delay\": {{\"steps_s\": {steps_s}, \"total_s\": {total_s}}},\n")
}

pub(super) fn energy_text(energy: &LaserEnergy) -> String {
    let LaserEnergy { steps_j, changes_j, total_j, sent_bits, picojoules_per_bit } = energy;
    let [changes_j, total_j, sent_bits, picojoules_per_bit] =
        [changes_j, total_j, sent_bits, picojoules_per_bit].map(|&value| Value::from(value));
    format!(
        "  \"energy\": {{\"steps_j\": {}, \"changes_j\": {changes_j}, \"total_j\": {total_j}, \
         \"sent_bits\": {sent_bits}, \"picojoules_per_bit\": {picojoules_per_bit}}},\n",
        json!(steps_j)
    )
}

pub(super) fn mesh_of(text: MeshText) -> MziMesh {
    MziMesh {
        mzis: text.mzis,
        tiles: text.tiles,
        interposers: text.interposers,
        waveguides: text.waveguides,
        wavelengths: text.wavelengths,
        fibres: text.fibres,
        transmitters: text.transmitters,
        receivers: text.receivers,
        tile_size_cm: text.tile_size_cm,
        crossing_loss_db: text.crossing_loss_db,
        waveguide_loss_db_per_cm: text.waveguide_loss_db_per_cm,
        coupling_loss_db: text.coupling_loss_db,
        max_loss_db: text.max_loss_db,
        launch_power: text.launch_power.map(|power| LaunchPower {
            sensitivity_dbm: power.sensitivity_dbm,
            margin_db: power.margin_db,
            max_launch_dbm: power.max_launch_dbm,
            max_tile_mw: power.max_tile_mw,
            max_interposer_mw: power.max_interposer_mw,
            laser_efficiency: power.laser_efficiency,
        }),
        fibre_lengths: text.fibre_lengths.map(|lengths| FibreLengths {
            row_positions_m: lengths.row_positions_m,
            column_positions_m: lengths.column_positions_m,
            delay_ns_per_m: lengths.fibre_delay_ns_per_m,
        }),
        interposer_order: text.interposer_order,
    }
}

pub(super) fn fibre_delay_of(text: FibreDelayText) -> FibreDelay {
    let FibreDelayText { steps_s, total_s } = text;
    FibreDelay { steps_s, total_s }
}

pub(super) fn energy_of(text: EnergyText) -> LaserEnergy {
    let EnergyText { steps_j, changes_j, total_j, sent_bits, picojoules_per_bit } = text;
    LaserEnergy { steps_j, changes_j, total_j, sent_bits, picojoules_per_bit }
}
