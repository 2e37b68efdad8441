//! Whether the mesh that a file of circuits states is the one that `mesh:ROWSxCOLUMNS[,key=value]` describes.

use std::collections::BTreeMap;

use model::{Error, MziMesh, Result, unknown_name};

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
        if let Some(default) = default {
            tally.expect(stated == default, || differs(name, stated, default));
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
