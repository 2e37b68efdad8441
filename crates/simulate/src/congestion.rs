//! Congestion control: what senders are told of the queues on the way, and what they make of it.
//!
//! ```text
//! circuit: marks a packet by what waits behind it (marking) ─▶ receiver: tells the sender ─▶ sender: sends at a rate
//! (dcqcn), or no more than a window (window)
//! ```

pub(crate) mod dcqcn;
pub(crate) mod marking;
mod values;
pub(crate) mod window;

use model::{Error, Result, unknown_name};

pub use dcqcn::Dcqcn;
pub use marking::Marking;
use values::FIELD;
pub use window::Window;

/// The names of all kinds, the default first.
const NAMES: [&str; 3] = ["none", "dcqcn", "window"];

/// The rule by which senders slow down when queues grow.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum CongestionControl {
    /// No rule: a sender hands over all its packets at once, or paced.
    #[default]
    None,
    /// A rate for each flow, cut when a notification of a marked packet comes, and raised by a timer.
    Dcqcn(Dcqcn),
    /// A window for each flow, cut by the fraction of its packets that were marked.
    Window(Window),
}

impl CongestionControl {
    /// The control that `none`, `dcqcn`, `window` name, or one of the last two with settings, such as
    /// `dcqcn:kmin=100KB,pmax=0.2`.
    ///
    /// # Errors
    /// An unknown name or setting, a setting that is given twice, and a value that is not accepted.
    pub fn parse(text: &str) -> Result<Self> {
        let (name, settings) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
        match (name, settings) {
            ("none", None) => Ok(Self::None),
            ("none", Some(settings)) => Err(Error::value(FIELD, format!("none:{settings}"), "no settings with `none`")),
            ("dcqcn", settings) => Ok(Self::Dcqcn(values::read(settings, Dcqcn::KEYS, Dcqcn::set)?)),
            ("window", settings) => Ok(Self::Window(values::read(settings, Window::KEYS, Window::set)?)),
            _ => Err(unknown_name(FIELD, name, NAMES)),
        }
    }

    /// Whether there is none.
    pub fn is_none(&self) -> bool {
        *self == Self::None
    }

    /// # Errors
    /// Thresholds or rates out of order on circuits of `bandwidth_bps`.
    pub(crate) fn check(&self, bandwidth_bps: f64) -> Result<()> {
        match self {
            Self::Dcqcn(dcqcn) => dcqcn.check(bandwidth_bps),
            Self::None | Self::Window(_) => Ok(()),
        }
    }

    /// The rule by which circuits of `bandwidth_bps` mark packets.
    pub(crate) fn marking(&self, bandwidth_bps: f64) -> Marking {
        match self {
            Self::None => Marking::NEVER,
            Self::Dcqcn(dcqcn) => dcqcn.marking(bandwidth_bps),
            Self::Window(window) => window.marking(bandwidth_bps),
        }
    }
}

/// Counts of what congestion control has done, for all GPUs together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CongestionTotals {
    /// Packets that a circuit marked, each counted once.
    pub marked_packets: u64,
    /// Notifications that receivers sent: none where every packet is acknowledged.
    pub notifications: u64,
    /// Cuts of a rate or a window.
    pub decreases: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_in_any_order() {
        let CongestionControl::Dcqcn(dcqcn) = CongestionControl::parse("dcqcn:kmax=8KB,kmin=2KB,pmax=0.5").unwrap()
        else {
            panic!("another control");
        };
        assert_eq!(dcqcn.marking(1e9), Marking { least_bytes: 2000, most_bytes: 8000, probability: 0.5, seed: 0 });
        assert_eq!(CongestionControl::parse("none").unwrap(), CongestionControl::None);
        assert_eq!(CongestionControl::parse("window").unwrap(), CongestionControl::Window(Window::default()));
    }

    #[test]
    fn what_is_not_accepted_is_named() {
        for (text, part) in [
            ("dcqn", "did you mean `dcqcn`?"),
            ("none:pmax=1", "no settings with `none`"),
            ("dcqcn:", "KEY=VALUE"),
            ("dcqcn:pmax", "KEY=VALUE"),
            ("dcqcn:pmx=1", "did you mean `pmax`?"),
            ("dcqcn:pmax=1,pmax=1", "once"),
            ("dcqcn:pmax=2", "`pmax="),
            ("dcqcn:pmax=nan", "`pmax="),
            ("dcqcn:gain=0", "`gain="),
            ("dcqcn:kmin=0", "`kmin="),
            ("dcqcn:alpha_interval=0s", "`alpha_interval="),
            ("dcqcn:fast_recovery=-1", "`fast_recovery="),
            ("window:kmin=1", "threshold"),
        ] {
            let error = CongestionControl::parse(text).unwrap_err().to_string();
            assert!(error.starts_with(FIELD) && error.contains(part) && !error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn thresholds_out_of_order_are_refused() {
        let check = |text: &str| CongestionControl::parse(text).unwrap().check(1e11);
        assert!(check("dcqcn:kmin=9KB,kmax=8KB").unwrap_err().to_string().contains("kmax"));
        assert!(check("dcqcn:least_rate=200Gbps").unwrap_err().to_string().contains("least_rate"));
        assert!(check("dcqcn:kmin=8KB,kmax=8KB").is_ok());
    }
}
