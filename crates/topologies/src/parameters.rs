//! The text after the colon of a spec. It is outside input: a wrong one of any content gives one error that quotes it
//! and says what the family takes.

use model::{Error, Result, Shape};
use strum::{EnumString, IntoStaticStr};

/// More numbers than this in one spec are refused; no GPU has more ports.
const MAX_NUMBERS: usize = model::MAX_PORTS as usize;

/// Whether a ring's circuits run in one direction or in both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum Way {
    OneWay,
    TwoWay,
}

impl Way {
    pub(crate) fn name(self) -> &'static str {
        self.into()
    }
}

/// The parameters given to a family, and what it takes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parameters<'a> {
    /// Name of the family.
    pub(crate) family: &'static str,
    /// The text after the colon.
    pub(crate) text: &'a str,
    /// Completes "it takes ..." in the error.
    pub(crate) accepts: &'static str,
}

impl<'a> Parameters<'a> {
    /// The error for these parameters.
    pub(crate) fn refuse(&self) -> Error {
        let colon = if self.text.is_empty() { "" } else { ":" };
        Error::value("topology", format!("`{}{colon}{}`", self.family, shown(self.text)), self.accepts)
    }

    /// The error for parameters that may be fine, on a shape that is not.
    pub(crate) fn refuse_shape(&self, reason: impl ToString) -> Error {
        Error::refused("topology", self.family, reason)
    }

    /// # Errors
    /// When there is any text.
    pub(crate) fn none(&self) -> Result<()> {
        if self.text.trim().is_empty() { Ok(()) } else { Err(self.refuse()) }
    }

    /// A seed, 0 where there is no text, and the name of what is built with it.
    ///
    /// # Errors
    /// Text that is not a whole number of at most 64 bits.
    pub(crate) fn name_and_seed(&self) -> Result<(String, u64)> {
        let text = self.text.trim();
        if text.is_empty() {
            return Ok((self.family.into(), 0));
        }
        let seed: u64 = text.parse().map_err(|_| self.refuse())?;
        Ok((format!("{}:{seed}", self.family), seed))
    }

    /// The parameters without a trailing `one-way` or `two-way`, and that.
    pub(crate) fn split_way(self) -> (Self, Option<Way>) {
        let (rest, last) = self.text.rsplit_once(',').unwrap_or(("", self.text));
        let way = last.trim().parse().ok();
        if way.is_some() { (Self { text: rest, ..self }, way) } else { (self, None) }
    }

    /// Comma-separated generators of a circulant on `gpus` ranks, at least one, `G^TIMES` for `TIMES` of them.
    ///
    /// # Errors
    /// A text that is not such a list, a multiple of `gpus`, or more generators than a GPU can have ports.
    pub(crate) fn generators(&self, gpus: u32) -> Result<Vec<i64>> {
        let mut generators = Vec::new();
        for item in self.text.split(',').take(MAX_NUMBERS + 1) {
            let (generator, times) = item.split_once('^').unwrap_or((item, "1"));
            let generator: i64 = generator.trim().parse().map_err(|_| self.refuse())?;
            let times: usize = times.trim().parse().map_err(|_| self.refuse())?;
            if remainder(generator, gpus) == 0 || times == 0 || times > MAX_NUMBERS - generators.len() {
                return Err(self.refuse());
            }
            generators.extend(std::iter::repeat_n(generator, times));
        }
        Ok(generators)
    }

    /// Comma-separated numbers, at least one, none a multiple of its modulus. `modulus(i)` is that of
    /// number i, `None` when there may not be as many.
    pub(crate) fn offsets(&self, modulus: impl Fn(usize) -> Option<u32>) -> Result<Vec<i64>> {
        let mut offsets = Vec::new();
        for (index, item) in self.text.split(',').enumerate().take(MAX_NUMBERS + 1) {
            let offset: i64 = item.trim().parse().map_err(|_| self.refuse())?;
            let modulus = modulus(index).filter(|_| index < MAX_NUMBERS).ok_or_else(|| self.refuse())?;
            if remainder(offset, modulus) == 0 {
                return Err(self.refuse());
            }
            offsets.push(offset);
        }
        Ok(offsets)
    }

    /// The grid `AxBxC` of all ranks of `shape`, or the shape's own when there is no text.
    pub(crate) fn dims(&self, shape: &Shape) -> Result<Vec<u32>> {
        if self.text.trim().is_empty() {
            return Ok(shape.dims().to_vec());
        }
        let dims: Vec<u32> = self
            .text
            .split('x')
            .take(MAX_NUMBERS)
            .map(|dim| dim.trim().parse().map_err(|_| self.refuse()))
            .collect::<Result<_>>()?;
        match Shape::new(shape.gpus(), &dims, shape.ports()) {
            Ok(grid) => Ok(grid.dims().to_vec()),
            Err(_) => Err(self.refuse_shape(format!("dimensions {} do not hold {} GPUs", by(&dims), shape.gpus()))),
        }
    }
}

/// `offset` modulo `modulus`, in `0..modulus`.
pub(crate) fn remainder(offset: i64, modulus: u32) -> u32 {
    offset.rem_euclid(i64::from(modulus)) as u32
}

/// `4x4x2`.
pub(crate) fn by(dims: &[u32]) -> String {
    dims.iter().map(u32::to_string).collect::<Vec<_>>().join("x")
}

/// `1,-1,5`.
pub(crate) fn listed(numbers: &[i64]) -> String {
    numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(",")
}

/// Outside text on one line, cut to a length that fits an error.
pub(crate) fn shown(text: &str) -> String {
    text.chars().take(60).flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters(text: &str) -> Parameters<'_> {
        Parameters { family: "family", text, accepts: "something" }
    }

    #[test]
    fn a_direction_is_taken_from_the_end_alone() {
        let split = |text| {
            let (rest, way) = parameters(text).split_way();
            (rest.text.to_string(), way)
        };
        assert_eq!(split("3,one-way"), ("3".into(), Some(Way::OneWay)));
        assert_eq!(split(" two-way"), (String::new(), Some(Way::TwoWay)));
        assert_eq!(split("one-way,3"), ("one-way,3".into(), None));
        assert_eq!(split("3,4"), ("3,4".into(), None));
    }

    #[test]
    fn extreme_numbers_are_reduced_or_refused() {
        for n in [2, 3, 64, 65_535, 65_536] {
            for offset in [i64::MIN, i64::MIN + 1, -1, 1, i64::MAX] {
                let expected = (i128::from(offset).rem_euclid(i128::from(n))) as u32;
                assert_eq!(remainder(offset, n), expected);
                let read = parameters(&offset.to_string()).offsets(|_| Some(n)).is_ok();
                assert_eq!(read, expected != 0);
            }
        }
        assert!(parameters("9223372036854775808").offsets(|_| Some(7)).is_err());
        assert!(parameters(&"1,".repeat(5000)).offsets(|_| Some(7)).is_err());
    }

    #[test]
    fn errors_stay_on_one_line() {
        let error = parameters("a\nb\u{7}").refuse().to_string();
        assert_eq!(error, "topology: `family:a\\nb\\u{7}` is not accepted; it takes something");
    }
}
