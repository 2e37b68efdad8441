//! DCQCN: a rate for each flow (Zhu et al., *Congestion control for large-scale RDMA deployments*, SIGCOMM 2015), with
//! the timers of network adapters, as simulators of them have it (Li et al., *HPCC: high precision congestion
//! control*, SIGCOMM 2019, and its model in ns-3).
//!
//! The first notification sets α to 1 and starts two clocks. At each tick of the first, α moves to 1 if a
//! notification came since the last tick, else to 0, by the gain. At each tick of the second, the rate is cut by α/2
//! if a notification came since the last one. From a cut on, a timer and a counter of bytes raise the rate: halfway to
//! the target (fast recovery), then with a target that grows, first by a little and then by more.

use model::{Error, Result};

use super::marking::Marking;
use super::values::{self, FIELD};

/// Settings of DCQCN; those that are `None` follow from the rate of circuits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dcqcn {
    /// Gain of the average α (g).
    pub gain: f64,
    /// Interval of the updates of α, s.
    pub alpha_interval_s: f64,
    /// Least time between two cuts of a rate, s.
    pub decrease_interval_s: f64,
    /// Time from a cut to the first raise, and from raise to raise, s (T).
    pub increase_interval_s: f64,
    /// Bytes from raise to raise (B); `None` for no counter.
    pub byte_counter: Option<u64>,
    /// Raises of fast recovery (F).
    pub fast_recovery: u32,
    /// Growth of the target of the first raise after these, bit/s.
    pub additive_bps: Option<f64>,
    /// Growth of the target of later raises, bit/s.
    pub hyper_bps: Option<f64>,
    /// Least rate, bit/s.
    pub least_bps: Option<f64>,
    /// Least time between two notifications of a receiver to a flow, s (N).
    pub notification_interval_s: f64,
    /// Kmin, bytes.
    pub least_bytes: Option<u64>,
    /// Kmax, bytes.
    pub most_bytes: Option<u64>,
    /// Pmax.
    pub probability: f64,
    /// Seed of the draws.
    pub seed: u32,
}

/// The rate for which the published settings below are, bit/s.
const PUBLISHED_BPS: f64 = 25e9;

impl Default for Dcqcn {
    fn default() -> Self {
        Self {
            gain: 1.0 / 256.0,
            alpha_interval_s: 1e-6,
            decrease_interval_s: 4e-6,
            increase_interval_s: 300e-6,
            byte_counter: None,
            fast_recovery: 1,
            additive_bps: None,
            hyper_bps: None,
            least_bps: None,
            notification_interval_s: 0.0,
            least_bytes: None,
            most_bytes: None,
            probability: 0.2,
            seed: 0,
        }
    }
}

impl Dcqcn {
    pub(super) const KEYS: &'static [&'static str] = &[
        "gain",
        "alpha_interval",
        "decrease_interval",
        "increase_interval",
        "byte_counter",
        "fast_recovery",
        "additive_increase",
        "hyper_increase",
        "least_rate",
        "notification_interval",
        "kmin",
        "kmax",
        "pmax",
        "seed",
    ];

    pub(super) fn set(&mut self, key: &str, text: &str) -> Result<()> {
        match key {
            "gain" => self.gain = values::fraction(key, text)?,
            "alpha_interval" => self.alpha_interval_s = values::interval(key, text)?,
            "decrease_interval" => self.decrease_interval_s = values::interval(key, text)?,
            "increase_interval" => self.increase_interval_s = values::interval(key, text)?,
            "byte_counter" => self.byte_counter = Some(values::size(key, text)?),
            "fast_recovery" => self.fast_recovery = values::whole(key, text)?,
            "additive_increase" => self.additive_bps = Some(values::rate(key, text)?),
            "hyper_increase" => self.hyper_bps = Some(values::rate(key, text)?),
            "least_rate" => self.least_bps = Some(values::rate(key, text)?),
            "notification_interval" => self.notification_interval_s = values::time(key, text)?,
            "kmin" => self.least_bytes = Some(values::size(key, text)?),
            "kmax" => self.most_bytes = Some(values::size(key, text)?),
            "pmax" => self.probability = values::fraction(key, text)?,
            _ => self.seed = values::whole(key, text)?,
        }
        Ok(())
    }

    pub(super) fn check(&self, bandwidth_bps: f64) -> Result<()> {
        let Marking { least_bytes, most_bytes, .. } = self.marking(bandwidth_bps);
        if least_bytes > most_bytes {
            let accepts = format!("a kmax of at least kmin, {least_bytes} bytes");
            return Err(Error::value(FIELD, format!("`kmax={most_bytes}`"), accepts));
        }
        if self.least_bps(bandwidth_bps) > bandwidth_bps {
            let accepts = format!("a least rate of at most the bandwidth, {}Gbps", bandwidth_bps / 1e9);
            let least = format!("`least_rate={}Gbps`", self.least_bps(bandwidth_bps) / 1e9);
            return Err(Error::value(FIELD, least, accepts));
        }
        Ok(())
    }

    /// The thresholds of circuits of `bandwidth_bps`: 100 and 400 kB at 25 Gbit/s, in proportion to the rate.
    pub(super) fn marking(&self, bandwidth_bps: f64) -> Marking {
        let scaled = |bytes: f64| ((bytes * bandwidth_bps / PUBLISHED_BPS).round() as u64).max(1);
        let least_bytes = self.least_bytes.unwrap_or_else(|| scaled(100e3));
        let most_bytes = self.most_bytes.unwrap_or_else(|| scaled(400e3));
        Marking { least_bytes, most_bytes, probability: self.probability, seed: u64::from(self.seed) }
    }

    fn least_bps(&self, bandwidth_bps: f64) -> f64 {
        self.least_bps.unwrap_or(bandwidth_bps / 100.0)
    }
}

/// The rate of one flow.
#[derive(Debug, Clone)]
pub(crate) struct Rate {
    settings: Dcqcn,
    line_bps: f64,
    rate_bps: f64,
    target_bps: f64,
    alpha: f64,
    /// The time of the first notification, at which both clocks start.
    first_fs: Option<u64>,
    /// Ticks of the first clock that α has followed.
    ticks: u64,
    /// Whether a notification came since the last tick of the first clock, and of the second.
    is_notified: [bool; 2],
    /// The next tick of the second clock, where a notification waits for it.
    cut_fs: Option<u64>,
    raise_fs: Option<u64>,
    /// Raises by the timer and by the counter since the last cut.
    raises: [u32; 2],
    /// Bytes sent since the last raise by the counter.
    counted_bytes: u64,
}

impl Rate {
    /// A flow that begins at the rate of circuits.
    pub(crate) fn new(settings: Dcqcn, line_bps: f64) -> Self {
        Self {
            settings,
            line_bps,
            rate_bps: line_bps,
            target_bps: line_bps,
            alpha: 1.0,
            first_fs: None,
            ticks: 0,
            is_notified: [false; 2],
            cut_fs: None,
            raise_fs: None,
            raises: [0; 2],
            counted_bytes: 0,
        }
    }

    /// Time from the start of a packet that takes `wire_fs` to the start of the next one, fs.
    pub(crate) fn spacing_fs(&self, wire_fs: u64) -> u64 {
        if self.rate_bps >= self.line_bps { wire_fs } else { (wire_fs as f64 * self.line_bps / self.rate_bps) as u64 }
    }

    /// The time of the next raise or cut.
    pub(crate) fn next_fs(&self) -> Option<u64> {
        self.cut_fs.into_iter().chain(self.raise_fs).min()
    }

    /// Takes note of a notification.
    pub(crate) fn notify(&mut self, now_fs: u64) {
        let interval_fs = fs(self.settings.decrease_interval_s);
        match self.first_fs {
            None => {
                (self.alpha, self.first_fs, self.is_notified) = (1.0, Some(now_fs), [false, true]);
                self.cut_fs = Some(now_fs + interval_fs);
            }
            Some(first_fs) => {
                self.follow(now_fs - 1);
                self.is_notified = [true; 2];
                let ticks = (now_fs - first_fs).div_ceil(interval_fs).max(1);
                self.cut_fs = self.cut_fs.or(Some(first_fs + ticks * interval_fs));
            }
        }
    }

    /// Counts bytes that were sent; the counter may raise the rate.
    pub(crate) fn sent(&mut self, bytes: u64) {
        let Some(limit) = self.settings.byte_counter.filter(|_| self.raise_fs.is_some()) else { return };
        self.counted_bytes += bytes;
        while self.counted_bytes >= limit {
            self.counted_bytes -= limit;
            self.raise();
            self.raises[1] = self.raises[1].saturating_add(1);
        }
    }

    /// Raises and cuts the rate, as is due at `now_fs`. Returns the cuts.
    pub(crate) fn expire(&mut self, now_fs: u64) -> u64 {
        if self.raise_fs == Some(now_fs) {
            self.raise();
            self.raises[0] = self.raises[0].saturating_add(1);
            self.raise_fs = Some(now_fs + fs(self.settings.increase_interval_s));
        }
        if self.cut_fs != Some(now_fs) {
            return 0;
        }
        self.follow(now_fs);
        self.cut_fs = None;
        self.is_notified[1] = false;
        if self.raises != [0; 2] {
            self.target_bps = self.rate_bps;
        }
        let least_bps = self.settings.least_bps(self.line_bps);
        self.rate_bps = (self.rate_bps * (1.0 - self.alpha / 2.0)).max(least_bps);
        (self.raises, self.counted_bytes) = ([0; 2], 0);
        self.raise_fs = Some(now_fs + fs(self.settings.increase_interval_s));
        1
    }

    /// Moves α as the ticks up to `now_fs` do.
    fn follow(&mut self, now_fs: u64) {
        let Some(first_fs) = self.first_fs else { return };
        let ticks = now_fs.saturating_sub(first_fs) / fs(self.settings.alpha_interval_s);
        let Some(passed) = ticks.checked_sub(self.ticks).filter(|&passed| passed > 0) else { return };
        let gain = self.settings.gain;
        if self.is_notified[0] {
            self.alpha += gain * (1.0 - self.alpha);
        }
        let without = passed - u64::from(self.is_notified[0]);
        self.alpha *= (1.0 - gain).powi(i32::try_from(without).unwrap_or(i32::MAX));
        (self.ticks, self.is_notified[0]) = (ticks, false);
    }

    fn raise(&mut self) {
        let Dcqcn { fast_recovery, byte_counter, .. } = self.settings;
        let [by_timer, by_counter] = self.raises;
        let scaled =
            |given: Option<f64>, published_bps: f64| given.unwrap_or(published_bps * self.line_bps / PUBLISHED_BPS);
        let fewest = if byte_counter.is_some() { by_timer.min(by_counter) } else { by_timer };
        if by_timer.max(by_counter) >= fast_recovery {
            let growth_bps = match fewest > fast_recovery {
                true => scaled(self.settings.hyper_bps, 50e6),
                false => scaled(self.settings.additive_bps, 5e6),
            };
            self.target_bps = (self.target_bps + growth_bps).min(self.line_bps);
        }
        self.rate_bps = (self.rate_bps + self.target_bps) / 2.0;
    }
}

/// Whole femtoseconds of a setting, which is at most a second.
fn fs(seconds: f64) -> u64 {
    (seconds * 1e15).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1_000_000_000;

    #[test]
    fn a_first_notification_halves_the_rate_at_the_next_tick() {
        let mut rate = Rate::new(Dcqcn::default(), 100e9);
        rate.notify(10 * US);
        assert_eq!((rate.spacing_fs(80), rate.next_fs()), (80, Some(14 * US)));
        assert_eq!(rate.expire(14 * US), 1);
        // Four ticks without another notification: α = (255/256)⁴.
        let alpha = (255.0_f64 / 256.0).powi(4);
        assert!((rate.rate_bps / 1e9 - 100.0 * (1.0 - alpha / 2.0)).abs() < 1e-9);
        assert_eq!(rate.next_fs(), Some(314 * US));
    }

    #[test]
    fn the_rate_recovers_halfway_then_the_target_grows() {
        let settings = Dcqcn { fast_recovery: 2, ..Dcqcn::default() };
        let mut rate = Rate::new(settings, 100e9);
        rate.notify(0);
        rate.expire(4 * US);
        // A second notification before any raise keeps the target; one after a raise takes the rate as target.
        rate.notify(5 * US);
        rate.expire(8 * US);
        assert_eq!(rate.target_bps, 100e9);
        let cut = rate.rate_bps;
        rate.expire(308 * US);
        assert_eq!(rate.rate_bps, (cut + 100e9) / 2.0);
        rate.notify(309 * US);
        let before = rate.rate_bps;
        rate.expire(312 * US);
        assert_eq!(rate.target_bps, before);
        // Two raises of fast recovery, one by 20 Mbit/s, then by 200 Mbit/s: 5 and 50 at 25 Gbit/s.
        let targets = (1..=5).map(|raise| {
            rate.expire((312 + 300 * raise) * US);
            (rate.target_bps - before) / 1e6
        });
        for (found, expected) in targets.collect::<Vec<_>>().into_iter().zip([0.0, 0.0, 20.0, 220.0, 420.0]) {
            assert!((found - expected).abs() < 1e-3, "{found} {expected}");
        }
    }

    #[test]
    fn bytes_raise_the_rate_as_time_does() {
        let settings = Dcqcn { byte_counter: Some(1000), fast_recovery: 1, ..Dcqcn::default() };
        let mut rate = Rate::new(settings, 100e9);
        rate.sent(10_000);
        rate.notify(0);
        rate.expire(4 * US);
        let cut = rate.rate_bps;
        rate.sent(999);
        assert_eq!(rate.rate_bps, cut);
        rate.sent(1);
        assert_eq!(rate.rate_bps, (cut + 100e9) / 2.0);
    }

    #[test]
    fn the_rate_stays_above_the_least_and_below_the_line() {
        let mut rate = Rate::new(Dcqcn { alpha_interval_s: 1e-3, ..Dcqcn::default() }, 100e9);
        for cut in 0..20 {
            rate.notify(4 * US * cut + US * u64::from(cut > 0));
            rate.expire(4 * US * (cut + 1));
        }
        assert_eq!(rate.rate_bps, 1e9);
        while let Some(now_fs) = rate.next_fs().filter(|now_fs| *now_fs < 1_000_000 * US) {
            rate.expire(now_fs);
        }
        assert!(rate.rate_bps <= 100e9 && rate.rate_bps > 99.9e9);
    }
}
