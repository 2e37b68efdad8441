//! Islands of GPUs round an electrical switch: the second tier of a fabric.

use crate::{Error, Rank, Result, units};

/// The form in which it is written.
const FORM: &str = "GPUs of an island, rate of a GPU inside it and delay of a hop, such as 8:3600Gbps:100ns";

/// Electrical switches inside islands of GPUs, next to the ports of the GPUs to the optical fabric.
///
/// GPUs `i·gpus` to `i·gpus + gpus − 1` are island i. A switch has full bisection: a GPU sends at the rate to any peers
/// of its island together, and receives at as much. Both tiers carry at once. A hop of a path between two GPUs of an
/// island is electrical where the topology has no circuit between them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Electrical {
    /// GPUs of an island, k.
    pub gpus: u32,
    /// Rate E of a GPU into its island, and of the island into a GPU, bit/s.
    pub bandwidth_bps: f64,
    /// Delay of a hop through the switch, s.
    pub hop_delay_s: f64,
}

impl Electrical {
    /// Reads `8:3600Gbps:100ns`; without the last part a hop takes no time.
    ///
    /// # Errors
    /// Text of another form, fewer than 2 GPUs, or a rate or time outside its range.
    pub fn parse(field: &str, text: &str) -> Result<Self> {
        let parts: Vec<&str> = text.split(':').collect();
        let digits = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let gpus = parts.first().filter(|part| digits(part)).and_then(|part| part.parse().ok());
        let (Some(gpus), 2..=3) = (gpus, parts.len()) else {
            return Err(Error::value(field, format!("`{text}`"), FORM));
        };
        let hop_delay_s = parts.get(2).map_or(Ok(0.0), |part| units::parse_time(field, part))?;
        let found = Self { gpus, bandwidth_bps: units::parse_rate(field, parts[1])?, hop_delay_s };
        found.check(field)?;
        Ok(found)
    }

    /// # Errors
    /// Fewer than 2 GPUs in an island, or a rate or time outside its range.
    pub fn check(&self, field: &str) -> Result<()> {
        if self.gpus < 2 {
            return Err(Error::value(field, format!("{} GPU in an island", self.gpus), "islands of at least 2 GPUs"));
        }
        units::rate_from_f64(field, self.bandwidth_bps)?;
        units::time_from_f64(field, self.hop_delay_s)?;
        Ok(())
    }

    /// # Errors
    /// A fabric whose GPUs are no whole islands.
    pub fn check_gpus(&self, field: &str, gpus: u32) -> Result<()> {
        match gpus.is_multiple_of(self.gpus) {
            true => Ok(()),
            false => Err(Error::value(
                field,
                format!("islands of {} GPUs in a fabric of {gpus}", self.gpus),
                "a number of GPUs that divides the fabric's",
            )),
        }
    }

    /// Seconds of a byte between a GPU and its switch.
    pub fn byte_s(&self) -> f64 {
        8.0 / self.bandwidth_bps
    }

    /// Whether two GPUs are of one island.
    pub fn joins(&self, one: Rank, other: Rank) -> bool {
        one / self.gpus == other / self.gpus
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn islands_are_read_and_refused_in_one_line() {
        let read = |text| Electrical::parse("electrical", text);
        let islands = Electrical { gpus: 8, bandwidth_bps: 3.6e12, hop_delay_s: 1e-7 };
        assert_eq!(read("8:3600Gbps:100ns"), Ok(islands));
        assert_eq!(read("8:3600Gbps"), Ok(Electrical { hop_delay_s: 0.0, ..islands }));
        for wrong in ["", "8", "x:1Gbps", "8:1Gbps:1us:1us", "1:1Gbps", "8:fast", "8:1Gbps:soon", "-8:1Gbps"] {
            let error = read(wrong).unwrap_err().to_string();
            assert!(error.starts_with("electrical: ") && !error.contains('\n'), "{error}");
        }
        assert!(islands.check_gpus("electrical", 16).is_ok() && islands.check_gpus("electrical", 12).is_err());
        assert!(islands.joins(8, 15) && !islands.joins(7, 8));
    }
}
