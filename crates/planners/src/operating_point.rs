//! The numbers in which the points of a sweep differ; profiles depend on none of them.

use model::{Fabric, ReconfigurationPolicy, Result, ranges, units};

use crate::Problem;

/// Five numbers that replace a problem's own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OperatingPoint {
    /// Bytes m of one rank's whole buffer.
    pub size_bytes: u64,
    /// Rate of one circuit, bit/s.
    pub bandwidth_bps: f64,
    /// Startup latency α of a step, s.
    pub startup_s: f64,
    /// Delay δ of one hop, s.
    pub hop_delay_s: f64,
    /// Reconfiguration delay α_r for any change, s. The fabric's delays per port are kept. Infinite where circuits must
    /// not change after the start.
    pub reconfiguration_delay_s: f64,
}

impl OperatingPoint {
    /// The numbers of a fabric and a size.
    pub fn of(fabric: &Fabric, size_bytes: u64) -> Self {
        Self {
            size_bytes,
            bandwidth_bps: fabric.bandwidth_bps,
            startup_s: fabric.startup_s,
            hop_delay_s: fabric.hop_delay_s,
            reconfiguration_delay_s: fabric.reconfiguration.delay().fixed_s(),
        }
    }

    /// # Errors
    /// A number outside its range ([`model::ranges`]).
    pub fn check(&self) -> Result<()> {
        units::size_in_range("size", self.size_bytes)?;
        units::rate_from_f64("bandwidth", self.bandwidth_bps)?;
        units::time_from_f64("startup", self.startup_s)?;
        units::time_from_f64("hop_delay", self.hop_delay_s)?;
        units::time_from_f64("reconfiguration_delay", self.reconfiguration_delay_s)?;
        Ok(())
    }

    /// This operating point, with the condition that circuits do not change after the start.
    #[must_use]
    pub fn without_changes(&self) -> Self {
        Self { reconfiguration_delay_s: f64::INFINITY, ..*self }
    }

    /// Numbers of the same bits are the same.
    pub fn bits(&self) -> [u64; 5] {
        let Self { size_bytes, bandwidth_bps, startup_s, hop_delay_s, reconfiguration_delay_s } = self;
        let [bandwidth, startup, hop, change] =
            [bandwidth_bps, startup_s, hop_delay_s, reconfiguration_delay_s].map(|number| number.to_bits());
        [*size_bytes, bandwidth, startup, hop, change]
    }

    /// Whether circuits may change after the start.
    pub fn allows_changes(&self) -> bool {
        self.reconfiguration_delay_s < f64::INFINITY
    }

    /// The fabric with these numbers. Where circuits must not change, a change takes longer than any plan without one.
    pub fn on(&self, fabric: &Fabric) -> Fabric {
        let reconfiguration = match self.reconfiguration_delay_s {
            f64::INFINITY => ReconfigurationPolicy::constant(ranges::TIME.most),
            delay_s => fabric.reconfiguration.with_fixed_s(delay_s),
        };
        Fabric {
            bandwidth_bps: self.bandwidth_bps,
            startup_s: self.startup_s,
            hop_delay_s: self.hop_delay_s,
            reconfiguration,
            ..fabric.clone()
        }
    }
}

impl Problem {
    /// This problem with other numbers of the fabric and size; profiles are shared.
    pub fn at(&self, numbers: &OperatingPoint) -> Self {
        Self { fabric: numbers.on(&self.fabric), size_bytes: numbers.size_bytes, ..self.clone() }
    }
}
