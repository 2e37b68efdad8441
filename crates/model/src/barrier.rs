//! The time of a barrier, in which all GPUs wait for each other, by the number of GPUs.

use crate::{Error, Result, units};

/// The name of HARVEST's measurements.
const HARVEST: &str = "harvest";
/// GPUs and seconds of HARVEST's measurements (figure 12; `compute-sync/p2p_master_worker_times.csv` of its
/// repository, ten runs of each).
const HARVEST_S: [(u32, f64); 8] = [
    (2, 2.91e-6),
    (4, 2.93e-6),
    (8, 4.12e-6),
    (16, 5.92e-6),
    (32, 10.63e-6),
    (64, 20.05e-6),
    (128, 31.9e-6),
    (256, 41.7e-6),
];
const ACCEPTS: &str = "a time such as 5us, `harvest`, or times by number of GPUs, which rises: 2=3us,64=20us";

/// The time of a barrier.
#[derive(Debug, Clone, PartialEq)]
pub enum Barrier {
    /// The same for any number of GPUs, s.
    Constant(f64),
    /// Seconds by number of GPUs, which rises; at least one.
    ByGpus(Vec<(u32, f64)>),
}

impl Barrier {
    /// No time at all.
    pub const NONE: Self = Self::Constant(0.0);

    /// A time, `harvest`, or times by number of GPUs: `2=3us,64=20us`.
    ///
    /// # Errors
    /// Anything else; it names `field`.
    pub fn parse(field: &str, text: &str) -> Result<Self> {
        if text.trim() == HARVEST {
            return Ok(Self::ByGpus(HARVEST_S.to_vec()));
        }
        if !text.contains('=') {
            return match units::parse_time(field, text) {
                Ok(seconds) => Ok(Self::Constant(seconds)),
                Err(_) => Err(refuse(field, text)),
            };
        }
        let mut by_gpus: Vec<(u32, f64)> = Vec::new();
        for item in text.split(',') {
            let (gpus, time) = item.split_once('=').ok_or_else(|| refuse(field, text))?;
            let gpus: u32 = gpus.trim().parse().map_err(|_| refuse(field, text))?;
            let seconds = units::parse_time(field, time.trim()).map_err(|_| refuse(field, text))?;
            if gpus < 2 || by_gpus.last().is_some_and(|last| last.0 >= gpus) {
                return Err(refuse(field, text));
            }
            by_gpus.push((gpus, seconds));
        }
        Ok(Self::ByGpus(by_gpus))
    }

    /// Seconds of a barrier of this many GPUs: between two known numbers, linear in the logarithm of the number.
    ///
    /// # Errors
    /// Fewer or more GPUs than any that is known; it names `field`.
    pub fn seconds(&self, field: &str, gpus: u32) -> Result<f64> {
        let by_gpus = match self {
            Self::Constant(seconds) => return Ok(*seconds),
            Self::ByGpus(by_gpus) => by_gpus,
        };
        let above = by_gpus.partition_point(|known| known.0 < gpus);
        match (above.checked_sub(1).map(|below| by_gpus[below]), by_gpus.get(above)) {
            (_, Some(&(known, seconds))) if known == gpus => Ok(seconds),
            (Some((least, least_s)), Some(&(most, most_s))) => {
                let log = |number: u32| f64::from(number).log2();
                Ok(least_s + (most_s - least_s) * (log(gpus) - log(least)) / (log(most) - log(least)))
            }
            _ => {
                let (first, last) = (by_gpus[0].0, by_gpus[by_gpus.len() - 1].0);
                let known = if first == last { first.to_string() } else { format!("{first} to {last}") };
                let accepts = format!("{known} GPUs, for which times of the barrier are known");
                Err(Error::value(field, format!("a barrier of {gpus} GPUs"), accepts))
            }
        }
    }
}

fn refuse(field: &str, text: &str) -> Error {
    const SHOWN: usize = 60;
    Error::value(field, format!("`{}`", text.chars().take(SHOWN).collect::<String>()), ACCEPTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_two_numbers_of_gpus_it_is_linear_in_the_logarithm() {
        let barrier = Barrier::parse("barrier", "4=1us, 64=5us").unwrap();
        // 4, 16 and 64 are 2, 4 and 6 doublings: halfway at 16, and a quarter of the way at 8.
        for (gpus, micros) in [(4, 1.0), (8, 2.0), (16, 3.0), (32, 4.0), (64, 5.0)] {
            assert!((barrier.seconds("barrier", gpus).unwrap() - micros * 1e-6).abs() < 1e-18, "{gpus}");
        }
    }

    #[test]
    fn harvests_measurements_are_met() {
        let barrier = Barrier::parse("barrier", "harvest").unwrap();
        assert_eq!(barrier.seconds("barrier", 64), Ok(20.05e-6));
        assert_eq!(barrier.seconds("barrier", 256), Ok(41.7e-6));
        let refused = barrier.seconds("barrier", 257).unwrap_err().to_string();
        assert!(refused.starts_with("barrier: ") && refused.contains("2 to 256 GPUs"), "{refused}");
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["", "fast", "-1us", "4=", "4=1us,4=2us", "8=1us,4=2us", "1=1us", "4=1us,", "x=1us", "4=1us,5us"] {
            let refused = Barrier::parse("barrier", text).unwrap_err().to_string();
            assert!(refused.starts_with("barrier: ") && refused.contains("such as 5us"), "{text}: {refused}");
        }
    }
}
