//! Whether the mesh that a file of circuits states is the one that `mesh:ROWSxCOLUMNS[,key=value]` describes.

use std::collections::BTreeMap;

use model::{Error, LaunchPower, MziMesh, Result, unknown_name};

use crate::report::Tally;

/// The numbers of a setting: two of a grid, one of most, none of a limit that is not there.
type Numbers = Vec<f64>;

/// Compares every setting of `mesh` with the text after `mesh:`; settings that it leaves out have their defaults, and
/// the tiles follow from the others.
///
/// # Errors
/// Text that describes no mesh; names `optics` or the setting.
pub(super) fn compare(mesh: &MziMesh, text: &str, ports: u32, tally: &mut Tally) -> Result<()> {
    let mut given = BTreeMap::new();
    for (index, part) in text.split(',').enumerate() {
        let setting = if index == 0 { Some(("mzis", part)) } else { part.split_once('=') };
        let (key, value) = setting.ok_or_else(|| Error::value("optics", shown(part), "key=value"))?;
        given.insert(key, value);
    }
    compare_fibres(mesh, &mut given, tally)?;
    let settings = settings(mesh, ports);
    for (key, value) in given.clone() {
        let Some((name, stated, _)) = settings.iter().find(|(name, ..)| *name == key) else {
            return Err(unknown_name("optics", key, settings.iter().map(|(name, ..)| *name)));
        };
        let told: Option<Numbers> = value.split('x').map(|number| number.parse().ok()).collect();
        let (count, accepts) = if stated.len() == 2 { (2, "ROWSxCOLUMNS") } else { (1, "a number") };
        let told = told.filter(|told| told.len() == count).ok_or_else(|| Error::value(name, shown(value), accepts))?;
        tally.expect(*stated == told, || differs(name, stated, &told));
    }
    for (name, stated, default) in settings.iter().filter(|(name, ..)| !given.contains_key(name)) {
        // Keys of lasers that neither the file nor the text gives are not counted as checked.
        let is_silent = stated.is_empty() && LaunchPower::KEYS.contains(name);
        if let Some(default) = default.as_ref().filter(|_| !is_silent) {
            tally.expect(stated == default, || differs(name, stated, default));
        }
    }
    Ok(())
}

/// Compares the lengths of fibres and the order of interposers, and takes their keys out of those given.
///
/// # Errors
/// Text that is no numbers; names the setting.
fn compare_fibres(mesh: &MziMesh, given: &mut BTreeMap<&str, &str>, tally: &mut Tally) -> Result<()> {
    let mut told = |name: &'static str| {
        let numbers = given.remove(name).map(|value| {
            let parsed: Option<Numbers> = value.split(':').map(|number| number.parse().ok()).collect();
            parsed.ok_or_else(|| Error::value(name, shown(value), "numbers with colons between them"))
        });
        numbers.transpose()
    };
    let same_m = told("fibre_m")?.and_then(|numbers| numbers.first().copied());
    let (rows, columns) = (told("row_positions_m")?, told("column_positions_m")?);
    let (delay, order) = (told("fibre_delay_ns_per_m")?, told("interposer_order")?);
    let has_lengths = same_m.is_some() || rows.is_some() || columns.is_some();
    let positions = |given: Option<Numbers>, count: u32| match given {
        Some(given) => given,
        None if has_lengths => (0..count).map(|place| same_m.unwrap_or(0.0) * f64::from(place)).collect(),
        None => Vec::new(),
    };
    let lengths = mesh.fibre_lengths.as_ref();
    let of_file = |numbers: fn(&model::FibreLengths) -> Numbers| lengths.map(numbers).unwrap_or_default();
    let file_order = mesh.interposer_order.iter().flatten().map(|&number| f64::from(number)).collect();
    for (name, stated, told) in [
        ("row_positions_m", of_file(|lengths| lengths.row_positions_m.clone()), positions(rows, mesh.interposers[0])),
        (
            "column_positions_m",
            of_file(|lengths| lengths.column_positions_m.clone()),
            positions(columns, mesh.interposers[1]),
        ),
        (
            "fibre_delay_ns_per_m",
            of_file(|lengths| vec![lengths.delay_ns_per_m]),
            delay.unwrap_or(if has_lengths { vec![5.0] } else { Vec::new() }),
        ),
        ("interposer_order", file_order, order.unwrap_or_default()),
    ] {
        if !stated.is_empty() || !told.is_empty() {
            tally.expect(stated == told, || differs(name, &stated, &told));
        }
    }
    Ok(())
}

/// Name, numbers of the file, and the default.
fn settings(mesh: &MziMesh, ports: u32) -> [(&'static str, Numbers, Option<Numbers>); 19] {
    let grid = |[rows, columns]: [u32; 2]| vec![f64::from(rows), f64::from(columns)];
    let whole = |value: u32, default: u32| (vec![f64::from(value)], Some(vec![f64::from(default)]));
    let real = |value: f64, default: f64| (vec![value], Some(vec![default]));
    // Nothing is said about lasers by default; where the sensitivity of receivers is given, the margin is 0.
    let power = mesh.launch_power;
    let said = |value: Option<f64>| (value.into_iter().collect(), Some(Vec::new()));
    let margin = |value: f64| real(value, 0.0);
    [
        ("mzis", (grid(mesh.mzis), None)),
        ("tiles", (grid(mesh.tiles), None)),
        ("interposers", (grid(mesh.interposers), Some(vec![1.0, 1.0]))),
        ("waveguides", whole(mesh.waveguides, 1)),
        ("wavelengths", whole(mesh.wavelengths, 1)),
        ("fibres", whole(mesh.fibres, 1)),
        ("transmitters", whole(mesh.transmitters, ports)),
        ("receivers", whole(mesh.receivers, ports)),
        ("tile_size_cm", real(mesh.tile_size_cm, 1.0)),
        ("crossing_loss_db", real(mesh.crossing_loss_db, 0.25)),
        ("waveguide_loss_db_per_cm", real(mesh.waveguide_loss_db_per_cm, 0.4)),
        ("coupling_loss_db", real(mesh.coupling_loss_db, 0.5)),
        ("max_loss_db", (mesh.max_loss_db.into_iter().collect(), Some(Vec::new()))),
        ("sensitivity_dbm", said(power.map(|power| power.sensitivity_dbm))),
        ("margin_db", power.map_or(said(None), |power| margin(power.margin_db))),
        ("max_launch_dbm", said(power.and_then(|power| power.max_launch_dbm))),
        ("max_tile_mw", said(power.and_then(|power| power.max_tile_mw))),
        ("max_interposer_mw", said(power.and_then(|power| power.max_interposer_mw))),
        ("laser_efficiency", said(power.and_then(|power| power.laser_efficiency))),
    ]
    .map(|(name, (stated, default))| (name, stated, default))
}

fn differs(name: &str, stated: &Numbers, told: &Numbers) -> String {
    let words = |numbers: &Numbers| match numbers.is_empty() {
        true => "none".to_string(),
        false => numbers.iter().map(f64::to_string).collect::<Vec<_>>().join("x"),
    };
    format!("`{name}` is {} in the file and {} in the mesh as described", words(stated), words(told))
}

fn shown(text: &str) -> String {
    format!("`{}`", text.chars().take(60).collect::<String>())
}
