//! Lengths of fibres and the order of interposers, as `--optics mesh:...` describes them.

use model::{Error, FibreLengths, Result, check_interposer_order};

use crate::grid::Grid;

/// The settings that say how long fibres are, and which GPUs are on which interposer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FibreKeys {
    fibre_m: Option<f64>,
    row_positions_m: Option<Vec<f64>>,
    column_positions_m: Option<Vec<f64>>,
    delay_ns_per_m: Option<f64>,
    order: Option<Vec<u32>>,
}

impl FibreKeys {
    /// The keys.
    pub const KEYS: [&'static str; 5] =
        ["fibre_m", "row_positions_m", "column_positions_m", "fibre_delay_ns_per_m", "interposer_order"];

    /// Takes the value of one of [`Self::KEYS`].
    ///
    /// # Errors
    /// Text that is no number, or no numbers with colons between them; names the key.
    pub fn set(&mut self, key: &str, value: &str) -> Result<()> {
        match key {
            "fibre_m" => self.fibre_m = Some(one(key, value)?),
            "fibre_delay_ns_per_m" => self.delay_ns_per_m = Some(one(key, value)?),
            "row_positions_m" => self.row_positions_m = Some(several(key, value)?),
            "column_positions_m" => self.column_positions_m = Some(several(key, value)?),
            _ => {
                let accepts = "interposers with colons between them, such as 1:0; `circuits` takes `shortest`, too";
                self.order = Some(several(key, value).map_err(|_| Error::value(key, shown(value), accepts))?);
            }
        }
        Ok(())
    }

    /// The lengths that they say, for these interposers.
    ///
    /// # Errors
    /// Numbers out of range, another count than there are rows or columns, or a delay without lengths.
    pub fn lengths(&self, interposers: Grid) -> Result<Option<FibreLengths>> {
        let Self { fibre_m, row_positions_m, column_positions_m, delay_ns_per_m, .. } = self;
        if fibre_m.is_none() && row_positions_m.is_none() && column_positions_m.is_none() {
            return match delay_ns_per_m {
                Some(delay) => Err(Error::value(
                    "fibre_delay_ns_per_m",
                    format!("{delay:?}"),
                    "a delay only next to fibre_m, row_positions_m or column_positions_m",
                )),
                None => Ok(None),
            };
        }
        let sides = [(row_positions_m, interposers.rows()), (column_positions_m, interposers.columns())];
        let longest = sides.iter().filter(|(given, _)| given.is_none()).map(|&(_, count)| count - 1).max().unwrap_or(0);
        if let Some(given) = fibre_m {
            if longest == 0 {
                let accepts = "interposers in a row or column without positions, between which it is the length";
                return Err(Error::value("fibre_m", format!("{given:?}"), accepts));
            }
            let most = (FibreLengths::MOST_M / f64::from(longest)).floor();
            if !(0.0..=most).contains(given) {
                return Err(Error::value("fibre_m", format!("{given:?}"), format!("metres from 0 to {most}")));
            }
        }
        let positions = |given: &Option<Vec<f64>>, count: u32, key: &str| match (given, fibre_m) {
            (Some(given), _) => Ok(given.clone()),
            (None, Some(fibre_m)) => Ok((0..count).map(|place| fibre_m * f64::from(place)).collect()),
            (None, None) if count == 1 => Ok(vec![0.0]),
            (None, None) => Err(Error::value(key, "nothing", "a position in metres for each, or fibre_m for all")),
        };
        let lengths = FibreLengths {
            row_positions_m: positions(row_positions_m, interposers.rows(), "row_positions_m")?,
            column_positions_m: positions(column_positions_m, interposers.columns(), "column_positions_m")?,
            delay_ns_per_m: delay_ns_per_m.unwrap_or(FibreLengths::DELAY_NS_PER_M),
        };
        lengths.check([interposers.rows(), interposers.columns()])?;
        Ok(Some(lengths))
    }

    /// The interposer of the first GPUs, of the next, and so on, where it is said.
    ///
    /// # Errors
    /// An order that does not name every interposer once.
    pub fn order(&self, interposers: Grid) -> Result<Option<Vec<u32>>> {
        let Some(order) = &self.order else { return Ok(None) };
        check_interposer_order(order, [interposers.rows(), interposers.columns()])
            .map_err(|accepts| Error::value("interposer_order", joined(order), accepts))?;
        Ok(Some(order.clone()))
    }
}

fn one(key: &str, value: &str) -> Result<f64> {
    value.parse().map_err(|_| Error::value(key, shown(value), "a number"))
}

fn several<T: std::str::FromStr>(key: &str, value: &str) -> Result<Vec<T>> {
    let parsed: std::result::Result<Vec<T>, _> = value.split(':').map(str::parse).collect();
    parsed.map_err(|_| Error::value(key, shown(value), "numbers with colons between them, such as 0:2"))
}

/// Numbers as they were given.
fn joined(numbers: &[u32]) -> String {
    shown(&numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(":"))
}

fn shown(text: &str) -> String {
    format!("`{}`", text.chars().take(60).collect::<String>())
}
