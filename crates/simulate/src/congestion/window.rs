//! A window for each flow, cut by the fraction of its packets that were marked: DCTCP (Alizadeh et al., *Data center
//! TCP*, SIGCOMM 2010; Bensley et al., RFC 8257). It begins at the bytes under way at full rate, as on network adapters
//! (Li et al., *HPCC: high precision congestion control*, SIGCOMM 2019), not in slow start.

use model::Result;

use super::marking::Marking;
use super::values;

/// Settings of the window; those that are `None` follow from the rate of circuits and the length of the path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// Gain of the average α (g).
    pub gain: f64,
    /// Bytes behind a packet above which it is marked (K).
    pub threshold_bytes: Option<u64>,
    /// Bytes of the first window.
    pub initial_bytes: Option<u64>,
}

impl Default for Window {
    fn default() -> Self {
        Self { gain: 1.0 / 16.0, threshold_bytes: None, initial_bytes: None }
    }
}

/// The rate for which the published threshold is, bit/s.
const PUBLISHED_BPS: f64 = 10e9;

impl Window {
    pub(super) const KEYS: &'static [&'static str] = &["gain", "threshold", "initial_window"];

    pub(super) fn set(&mut self, key: &str, text: &str) -> Result<()> {
        match key {
            "gain" => self.gain = values::fraction(key, text)?,
            "threshold" => self.threshold_bytes = Some(values::size(key, text)?),
            _ => self.initial_bytes = Some(values::size(key, text)?),
        }
        Ok(())
    }

    /// One threshold for all packets: 30 kB at 10 Gbit/s, in proportion to the rate.
    pub(super) fn marking(&self, bandwidth_bps: f64) -> Marking {
        let scaled = ((30e3 * bandwidth_bps / PUBLISHED_BPS).round() as u64).max(1);
        let bytes = self.threshold_bytes.unwrap_or(scaled);
        Marking { least_bytes: bytes, most_bytes: bytes, probability: 1.0, seed: 0 }
    }
}

/// The window of one flow.
#[derive(Debug, Clone)]
pub(crate) struct Cwnd {
    gain: f64,
    packet_bytes: f64,
    bytes: f64,
    alpha: f64,
    sent_bytes: u64,
    acknowledged_bytes: u64,
    /// Bytes acknowledged in this round trip, and those of them that were marked.
    round: [u64; 2],
    /// Acknowledged bytes at which this round trip ends, and at which the one ends in which the window was last cut.
    ends_bytes: [u64; 2],
}

impl Cwnd {
    /// A flow of packets of `packet_bytes` whose round trip, at full rate, has `round_trip_bytes` under way.
    pub(crate) fn new(settings: Window, packet_bytes: u64, round_trip_bytes: u64) -> Self {
        let initial_bytes = settings.initial_bytes.unwrap_or(round_trip_bytes + packet_bytes).max(packet_bytes);
        Self {
            gain: settings.gain,
            packet_bytes: packet_bytes as f64,
            bytes: initial_bytes as f64,
            alpha: 1.0,
            sent_bytes: 0,
            acknowledged_bytes: 0,
            round: [0; 2],
            ends_bytes: [0; 2],
        }
    }

    fn under_way_bytes(&self) -> u64 {
        self.sent_bytes - self.acknowledged_bytes
    }

    /// Whether there is room in the window for a packet of `bytes`.
    pub(crate) fn has_room(&self, bytes: u64) -> bool {
        self.under_way_bytes() == 0 || (self.under_way_bytes() + bytes) as f64 <= self.bytes
    }

    /// Counts bytes that were sent.
    pub(crate) fn sent(&mut self, bytes: u64) {
        self.sent_bytes += bytes;
    }

    /// Takes note that a packet was received, with a mark or without. Returns the cuts.
    pub(crate) fn acknowledge(&mut self, bytes: u64, is_marked: bool) -> u64 {
        let is_full = !self.has_room(self.packet_bytes as u64);
        self.acknowledged_bytes += bytes;
        self.round[0] += bytes;
        self.round[1] += if is_marked { bytes } else { 0 };
        if self.acknowledged_bytes > self.ends_bytes[0] {
            let [all, marked] = self.round;
            self.alpha += self.gain * (marked as f64 / all as f64 - self.alpha);
            (self.round, self.ends_bytes[0]) = ([0; 2], self.sent_bytes);
        }
        if self.acknowledged_bytes <= self.ends_bytes[1] {
            return 0;
        }
        if is_marked {
            self.bytes = (self.bytes * (1.0 - self.alpha / 2.0)).max(self.packet_bytes);
            self.ends_bytes[1] = self.sent_bytes;
            return 1;
        }
        if is_full {
            self.bytes += self.packet_bytes * bytes as f64 / self.bytes;
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_ten_packets() -> Cwnd {
        let mut window = Cwnd::new(Window { initial_bytes: Some(10_000), ..Window::default() }, 1000, 0);
        (0..10).for_each(|_| window.sent(1000));
        window
    }

    #[test]
    fn a_full_window_waits() {
        let mut window = of_ten_packets();
        assert!(!window.has_room(1000));
        window.acknowledge(1000, false);
        assert!(window.has_room(1000));
    }

    #[test]
    fn a_window_grows_by_a_packet_in_a_round_trip() {
        let mut window = of_ten_packets();
        for _ in 0..10 {
            window.acknowledge(1000, false);
            window.sent(1000);
        }
        assert!((window.bytes - 11_000.0).abs() < 60.0, "{}", window.bytes);
    }

    #[test]
    fn a_window_is_cut_once_in_a_round_trip() {
        let mut window = of_ten_packets();
        // The first packet ends a round of its own. All of its bytes are marked, so α stays 1.
        assert_eq!(window.acknowledge(1000, true), 1);
        assert_eq!(window.bytes, 5000.0);
        assert_eq!((0..9).map(|_| window.acknowledge(1000, true)).sum::<u64>(), 0);
        assert_eq!(window.bytes, 5000.0);
    }

    #[test]
    fn a_window_is_cut_by_the_fraction_of_marks() {
        let mut window = of_ten_packets();
        window.alpha = 0.0;
        window.ends_bytes[0] = 9000;
        (0..9).for_each(|packet| assert!(window.acknowledge(1000, packet < 5) < 2));
        // The first of them cuts by α = 0; half of a round of ten is marked.
        assert_eq!(window.bytes, 10_000.0);
        window.acknowledge(1000, false);
        assert!((window.alpha - 0.5 / 16.0).abs() < 1e-12);
    }
}
