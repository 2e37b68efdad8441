//! GPUs on the tiles of a mesh, as `--optics mesh:...` describes it.

use std::collections::BTreeSet;

use model::{Error, LaunchPower, Result, unknown_name};

use crate::grid::Grid;

use super::fibre_keys::FibreKeys;
use super::layout::{MOST_LANES, Mesh, MeshSettings};

/// Keys of the settings `key=value` that follow the numbers of MZIs in `mesh:ROWSxCOLUMNS,...`: the names of the
/// arguments of `Mesh` in Python.
const KEYS: [&str; 23] = [
    "tiles",
    "interposers",
    "waveguides",
    "wavelengths",
    "fibres",
    "transmitters",
    "receivers",
    "tile_size_cm",
    "crossing_loss_db",
    "waveguide_loss_db_per_cm",
    "coupling_loss_db",
    "max_loss_db",
    "sensitivity_dbm",
    "margin_db",
    "max_launch_dbm",
    "max_tile_mw",
    "max_interposer_mw",
    "laser_efficiency",
    "fibre_m",
    "row_positions_m",
    "column_positions_m",
    "fibre_delay_ns_per_m",
    "interposer_order",
];

/// A mesh, what is at its tiles, and the MZI of each GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// The mesh.
    pub mesh: Mesh,
    /// The interposer of the first GPUs, of the next, and so on; `None` where they fill them row by row.
    pub order: Option<Vec<u32>>,
    /// Transmitters of a tile, and receivers, where their numbers are given; else a GPU has one for each port.
    pub limits: [Option<u32>; 2],
    /// The tile of each GPU, numbered row by row over all interposers.
    pub tiles: Vec<u32>,
    /// The MZI that a GPU's transmitters and receivers are attached to.
    pub cells: Vec<u32>,
}

/// A mesh written as `ROWSxCOLUMNS[,key=value]...`.
pub struct Described {
    settings: MeshSettings,
    has_tiles: bool,
    limits: [Option<u32>; 2],
    order: Option<Vec<u32>>,
}

/// The settings that are written `ROWSxCOLUMNS[,key=value]...`.
///
/// # Errors
/// Any other text; names `optics` or the key.
pub fn parse_settings(text: &str) -> Result<Described> {
    let mut parts = text.split(',');
    let mut settings = MeshSettings::of(Grid::parse("optics", parts.next().unwrap_or_default())?)?;
    let (mut seen, mut limits) = (BTreeSet::new(), [None; 2]);
    let (mut power, mut fibres) = ([None; 6], FibreKeys::default());
    for part in parts {
        let Some((key, value)) = part.split_once('=') else {
            return Err(Error::value("optics", format!("`{}`", shown(part)), "key=value, such as wavelengths=4"));
        };
        if !seen.insert(key) {
            return Err(Error::value("optics", format!("`{}` twice", shown(key)), "every key once"));
        }
        let whole = || number(key, value, "a whole number", |value| value.parse::<u32>().ok());
        let real = || number(key, value, "a number", |value| value.parse::<f64>().ok());
        match key {
            "tiles" => settings.tiles = Grid::parse(key, value)?,
            "interposers" => settings.interposers = Grid::parse(key, value)?,
            "waveguides" => settings.waveguides = whole()?,
            "wavelengths" => settings.wavelengths = whole()?,
            "fibres" => settings.fibres = whole()?,
            "transmitters" => limits[0] = Some(lanes(key, value)?),
            "receivers" => limits[1] = Some(lanes(key, value)?),
            "tile_size_cm" => settings.tile_size_cm = real()?,
            "crossing_loss_db" => settings.losses.crossing_db = real()?,
            "waveguide_loss_db_per_cm" => settings.losses.waveguide_db_per_cm = real()?,
            "coupling_loss_db" => settings.losses.coupling_db = real()?,
            "max_loss_db" => settings.max_loss_db = Some(real()?),
            _ if FibreKeys::KEYS.contains(&key) => fibres.set(key, value)?,
            _ if LaunchPower::KEYS.contains(&key) => {
                let known = LaunchPower::KEYS.iter().zip(&mut power).find(|(known, _)| **known == key);
                if let Some((_, place)) = known {
                    *place = Some(real()?);
                }
            }
            _ => return Err(unknown_name("optics", key, KEYS)),
        }
    }
    settings.launch_power = launch_power(power)?;
    settings.fibre_lengths = fibres.lengths(settings.interposers)?;
    let order = fibres.order(settings.interposers)?;
    Ok(Described { settings, has_tiles: seen.contains("tiles"), limits, order })
}

/// The launch power by the values of [`LaunchPower::KEYS`].
///
/// # Errors
/// A value without the sensitivity of receivers, which all need; names its key.
pub fn launch_power(values: [Option<f64>; 6]) -> Result<Option<LaunchPower>> {
    let [sensitivity_dbm, margin_db, max_launch_dbm, max_tile_mw, max_interposer_mw, laser_efficiency] = values;
    let Some(sensitivity_dbm) = sensitivity_dbm else {
        let given = LaunchPower::KEYS.into_iter().zip(values).find_map(|(key, value)| Some((key, value?)));
        return given.map_or(Ok(None), |(key, value)| {
            Err(Error::value(
                key,
                format!("{value:?}"),
                "a launch power only next to sensitivity_dbm, what receivers need",
            ))
        });
    };
    let margin_db = margin_db.unwrap_or(0.0);
    Ok(Some(LaunchPower {
        sensitivity_dbm,
        margin_db,
        max_launch_dbm,
        max_tile_mw,
        max_interposer_mw,
        laser_efficiency,
    }))
}

/// A number of what a tile has.
fn lanes(key: &str, value: &str) -> Result<u32> {
    let accepts = format!("a whole number from 1 to {MOST_LANES}");
    number(key, value, &accepts, |value| value.parse().ok().filter(|count| (1..=MOST_LANES).contains(count)))
}

fn number<T>(key: &str, value: &str, accepts: &str, parse: impl Fn(&str) -> Option<T>) -> Result<T> {
    parse(value).ok_or_else(|| Error::value(key, format!("`{}`", shown(value)), accepts))
}

fn shown(text: &str) -> String {
    text.chars().take(60).collect()
}

/// GPUs on the mesh of [`parse_settings`]'s text: as many consecutive ones on each interposer, one a tile, row by row.
/// Without tiles in the text, an interposer has the fewest tiles that are enough, of those the ones nearest to squares.
///
/// # Errors
/// The errors of the text; too few tiles; names `optics` or the key.
pub fn place(text: &str, gpus: u32) -> Result<Placed> {
    let Described { mut settings, has_tiles, limits, order } = parse_settings(text)?;
    let MeshSettings { mzis, interposers, .. } = settings;
    let each = gpus.div_ceil(interposers.cells());
    if !has_tiles {
        let divisors = |count: u32| (1..=count).filter(move |&part| count.is_multiple_of(part));
        let grids = divisors(mzis.rows()).flat_map(|rows| divisors(mzis.columns()).map(move |columns| (rows, columns)));
        let fewest = grids
            .filter(|(rows, columns)| rows * columns >= each)
            .min_by_key(|&(rows, columns)| (rows * columns, (mzis.rows() / rows).abs_diff(mzis.columns() / columns)));
        let Some((rows, columns)) = fewest else {
            let accepts = format!("at least {each} MZIs on an interposer, for a tile of each of its GPUs");
            return Err(Error::value("optics", format!("mesh of {mzis} MZIs"), accepts));
        };
        settings.tiles = Grid::new("tiles", rows, columns)?;
    }
    let tiles = settings.tiles;
    if tiles.cells() < each {
        return Err(Error::value("tiles", tiles, format!("at least {each} tiles, one for each GPU of an interposer")));
    }
    let mesh = Mesh::new(settings)?;
    let all = mesh.tile_grid();
    let interposer = |block: u32| order.as_ref().map_or(block, |order| order[block as usize]);
    let tile_of = |gpu: u32| {
        let ((down, across), (row, column)) = (interposers.place(interposer(gpu / each)), tiles.place(gpu % each));
        all.cell(down * tiles.rows() + row, across * tiles.columns() + column)
    };
    let tiles: Vec<u32> = (0..gpus).map(tile_of).collect();
    let cells = tiles.iter().map(|&tile| mesh.cell_of_tile(tile)).collect();
    Ok(Placed { mesh, order, limits, tiles, cells })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpus_fill_interposers_one_after_the_other() {
        let placed = place("4x4,interposers=1x2,fibres=2", 8).unwrap();
        assert_eq!(placed.mesh.settings().tiles, Grid::new("tiles", 2, 2).unwrap());
        // Tiles of 2x2 MZIs on eight columns; the MZI below and right of the tile's middle.
        assert_eq!(placed.cells, [9, 11, 25, 27, 13, 15, 29, 31]);
    }

    #[test]
    fn wrong_descriptions_name_what_is_wrong() {
        let refused = |text: &str| place(text, 16).unwrap_err().to_string();
        assert!(refused("4").starts_with("optics: `4` is not accepted"));
        assert!(refused("4x4,colour=red").starts_with("optics: unknown name `colour`"));
        assert!(refused("4x4,wavelengths").starts_with("optics: `wavelengths` is not accepted; it takes key=value"));
        assert!(refused("4x4,wavelengths=2,wavelengths=2").starts_with("optics: `wavelengths` twice is not accepted"));
        assert!(
            refused("4x4,interposers=1025x1")
                .starts_with("interposers: 1025x1 is not accepted; it takes at most 4096 rows")
        );
        assert!(refused("4x4,max_loss_db=1e308").starts_with("max_loss_db: 1e308 is not accepted"));
        assert!(refused("4x4,wavelengths=many").starts_with("wavelengths: `many` is not accepted"));
        assert!(refused("4x4,tiles=2x2").starts_with("tiles: 2x2 is not accepted"));
        assert!(
            refused("4x4,receivers=0").starts_with("receivers: `0` is not accepted; it takes a whole number from 1")
        );
        assert!(refused("3x3").starts_with("optics: mesh of 3x3 MZIs is not accepted"));
        assert!(refused("4x4,max_loss_db=NaN").starts_with("max_loss_db: NaN is not accepted"));
    }
}
