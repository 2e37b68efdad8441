//! Where the GPUs of a fabric stand, and the time that light takes through the fibres of their circuits.
//!
//! A fibre is as long as the line between its ends; where circuits go through a switch, each is two of them. Lengths
//! are whole millimetres, so that fabrics can be compared.

use std::fmt;

use crate::cutoffs::positions::{MOST_GPUS, MOST_M, MOST_NS_PER_M};
use crate::{Error, Result};

/// Millimetres in the three directions.
type Place = [i64; 3];

/// The form of the text of positions, as a message says it.
const FORM: &str = "`grid:ROWSxCOLUMNS:GPUS:METRES`, or x:y or x:y:z for each GPU, metres of at least 0, with commas between them; \
     then switch=middle or switch=x:y:z, and ns_per_m=5";

/// Places of all GPUs of a fabric, and what is between them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Positions {
    /// By GPU.
    gpus: Vec<Place>,
    /// The switch through which all circuits go; `None` where a fibre joins two GPUs directly.
    switch: Option<Place>,
    /// Time that light takes through a metre of fibre, ps.
    delay_ps_per_m: u64,
}

impl Positions {
    /// Time of light in glass: a group index of about 1.47 over the speed of light, ps/m (ITU-T G.652 fibres).
    const DELAY_PS_PER_M: u64 = 5000;

    /// Positions from a text: `grid:4x4:8:3` is 4 rows of 4 servers of 8 GPUs, 3 m from server to server, row by row;
    /// `0:0,3:0,6:0.5` says where each GPU is. Settings follow: `switch=1:2`, or `switch=middle`, half way between the
    /// farthest coordinates; `ns_per_m=5`.
    ///
    /// # Errors
    /// Any other text, and numbers out of range; names `field`.
    pub fn parse(field: &str, text: &str) -> Result<Self> {
        let refuse = |part: &str| Error::value(field, format!("`{}`", part.trim()), FORM);
        let mut found = Self { gpus: Vec::new(), switch: None, delay_ps_per_m: Self::DELAY_PS_PER_M };
        let mut in_middle = false;
        let mut given: Vec<&str> = Vec::new();
        for part in text.split(',') {
            let setting = part.trim().split_once('=');
            if let Some((name, _)) = setting {
                if given.contains(&name) {
                    return Err(Error::value(field, format!("`{}`", part.trim()), format!("`{name}` once")));
                }
                given.push(name);
            }
            match setting {
                Some(("switch", "middle")) => in_middle = true,
                Some(("switch", place)) => found.switch = Some(read_place(place).ok_or_else(|| refuse(part))?),
                Some(("ns_per_m", number)) => {
                    let delay = number.parse().ok().filter(|ns| (0.0..=MOST_NS_PER_M).contains(ns));
                    let accepts = format!("a number of ns/m from 0 to {MOST_NS_PER_M}");
                    let ns: f64 = delay.ok_or_else(|| Error::value(field, format!("`{}`", part.trim()), accepts))?;
                    found.delay_ps_per_m = (ns * 1e3).round() as u64;
                }
                Some(_) => return Err(refuse(part)),
                None if !given.is_empty() => return Err(refuse(part)),
                None => match part.trim().strip_prefix("grid:") {
                    Some(grid) if found.gpus.is_empty() => found.gpus = read_grid(grid).ok_or_else(|| refuse(part))?,
                    Some(_) => return Err(refuse(part)),
                    None => found.gpus.push(read_place(part.trim()).ok_or_else(|| refuse(part))?),
                },
            }
        }
        if in_middle {
            let ends = |axis: usize| {
                let along = || found.gpus.iter().map(|place| place[axis]);
                along().min().unwrap_or(0) + along().max().unwrap_or(0)
            };
            found.switch = Some([0, 1, 2].map(|axis| ends(axis) / 2));
        }
        Ok(found)
    }

    /// # Errors
    /// Another number of places than GPUs.
    pub(crate) fn check(&self, gpus: u32) -> Result<()> {
        match self.gpus.len() {
            places if places == gpus as usize => Ok(()),
            places => {
                Err(Error::value("positions", format!("{places} positions"), format!("{gpus}, one for each GPU")))
            }
        }
    }

    /// The places of some of the GPUs, in their order.
    #[must_use]
    pub fn among(&self, gpus: &[u32]) -> Self {
        Self { gpus: gpus.iter().map(|&gpu| self.gpus[gpu as usize]).collect(), ..self.clone() }
    }

    /// Where a GPU is, m.
    pub fn place_m(&self, gpu: u32) -> [f64; 3] {
        self.gpus[gpu as usize].map(metres)
    }

    /// Where the switch is through which all circuits go, m.
    pub fn switch_m(&self) -> Option<[f64; 3]> {
        self.switch.map(|place| place.map(metres))
    }

    /// Seconds that light takes through a metre.
    pub fn delay_s_per_m(&self) -> f64 {
        self.delay_ps_per_m as f64 * 1e-12
    }

    /// Fibre of a circuit from one GPU to another, m.
    pub fn fibre_m(&self, src: u32, dst: u32) -> f64 {
        let (from, to) = (self.gpus[src as usize], self.gpus[dst as usize]);
        self.switch.map_or_else(|| apart_m(from, to), |switch| apart_m(from, switch) + apart_m(switch, to))
    }

    /// Seconds that light takes through the longest fibre of these circuits, each from one GPU to another.
    pub fn longest_s(&self, circuits: impl Iterator<Item = (u32, u32)>) -> f64 {
        circuits.map(|(src, dst)| self.fibre_m(src, dst)).fold(0.0, f64::max) * self.delay_s_per_m()
    }
}

impl fmt::Display for Positions {
    /// The text from which [`Positions::parse`] reads them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spelled = |place: &Place| place.map(|mm| metres(mm).to_string()).join(":");
        let places: Vec<String> = self.gpus.iter().map(spelled).collect();
        f.write_str(&places.join(","))?;
        if let Some(switch) = &self.switch {
            write!(f, ",switch={}", spelled(switch))?;
        }
        write!(f, ",ns_per_m={}", self.delay_ps_per_m as f64 / 1e3)
    }
}

fn metres(mm: i64) -> f64 {
    mm as f64 / 1e3
}

fn apart_m(from: Place, to: Place) -> f64 {
    let squares = from.iter().zip(to).map(|(from, to)| metres(from - to).powi(2));
    squares.sum::<f64>().sqrt()
}

/// Millimetres of a number of metres in range.
fn read_length(text: &str) -> Option<i64> {
    let length: f64 = text.trim().parse().ok()?;
    (0.0..=MOST_M).contains(&length).then_some((length * 1e3).round() as i64)
}

fn read_place(text: &str) -> Option<Place> {
    let numbers: Vec<i64> = text.split(':').map(read_length).collect::<Option<_>>()?;
    match numbers[..] {
        [x, y] => Some([x, y, 0]),
        [x, y, z] => Some([x, y, z]),
        _ => None,
    }
}

/// Places of the GPUs of `ROWSxCOLUMNS:GPUS:METRES`: those of a server are at one place.
fn read_grid(text: &str) -> Option<Vec<Place>> {
    let [size, gpus, pitch]: [&str; 3] = text.split(':').collect::<Vec<_>>().try_into().ok()?;
    let (rows, columns) = size.split_once('x')?;
    let whole = |text: &str| text.parse::<u32>().ok().filter(|number| (1..=MOST_GPUS).contains(number));
    let (rows, columns, gpus) = (whole(rows)?, whole(columns)?, whole(gpus)?);
    let fits = rows.checked_mul(columns)?.checked_mul(gpus)? <= MOST_GPUS;
    let pitch = read_length(pitch).filter(|_| fits)?;
    let servers = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
    let of_server = |(row, column): (u32, u32)| {
        let place = [i64::from(column) * pitch, i64::from(row) * pitch, 0];
        std::iter::repeat_n(place, gpus as usize)
    };
    Some(servers.flat_map(of_server).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Positions> {
        Positions::parse("positions", text)
    }

    #[test]
    fn a_grid_has_its_servers_row_by_row() {
        let grid = read("grid:2x2:2:3").unwrap();
        let listed = read("0:0,0:0,3:0,3:0,0:3,0:3,3:3,3:3").unwrap();
        assert_eq!(grid, listed);
        assert_eq!(grid.fibre_m(0, 1), 0.0);
        assert_eq!(grid.fibre_m(0, 2), 3.0);
        assert_eq!(grid.fibre_m(0, 6), 18.0_f64.sqrt());
    }

    /// A right triangle of 3, 4 and 5 m: 25 ns directly, and 7 m by the switch at its right angle.
    #[test]
    fn light_goes_along_lines_or_through_the_switch() {
        let direct = read("3:0,0:4").unwrap();
        assert!((direct.longest_s([(0, 1)].into_iter()) - 25e-9).abs() < 1e-18);
        let switched = read("3:0,0:4,switch=0:0,ns_per_m=3").unwrap();
        assert!((switched.longest_s([(0, 1), (1, 0)].into_iter()) - 21e-9).abs() < 1e-18);
        assert_eq!(read("3:0,0:4,switch=middle").unwrap().switch_m(), Some([1.5, 2.0, 0.0]));
    }

    #[test]
    fn the_text_that_is_written_is_read_again() {
        for text in ["0.125:7:1.5,2:3", "grid:3x2:4:0.7,switch=middle", "0:0,1:1,switch=2:2:2,ns_per_m=0.25"] {
            let positions = read(text).unwrap();
            assert_eq!(read(&positions.to_string()).unwrap(), positions);
        }
    }

    #[test]
    fn other_texts_are_refused_by_the_part_that_is_wrong() {
        for (text, part) in [
            ("", "``"),
            ("1", "`1`"),
            ("0:0,1:-1", "`1:-1`"),
            ("0:0,inf:1", "`inf:1`"),
            ("grid:2x2:2", "`grid:2x2:2`"),
            ("grid:0x2:2:1", "`grid:0x2:2:1`"),
            ("grid:65536x65536:8:1", "`grid:65536x65536:8:1`"),
            ("0:0,switch=a", "`switch=a`"),
            ("0:0,ns_per_m=-1", "`ns_per_m=-1`"),
            ("0:0,speed=1", "`speed=1`"),
            ("0:0,switch=middle,1:1", "`1:1`"),
            ("0:0,switch=0:0,switch=middle", "`switch=middle`"),
            ("0:0,ns_per_m=5,ns_per_m=50", "`ns_per_m=50`"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
