//! The assumptions of a simulation in addition to the plan and its fabric.

use model::{Error, Fabric, Result, units};
use strum::{IntoStaticStr, VariantArray};

use crate::clock::{femtoseconds, wire_fs};
use crate::congestion::CongestionControl;

/// Level of detail of a simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Level {
    /// Every packet, in FIFO queues.
    #[default]
    Packet,
    /// Flows at max-min fair rates.
    Flow,
}

/// The time at which a sender hands its packets to its first circuit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Injection {
    /// All packets at the start of the step.
    #[default]
    Burst,
    /// Evenly over the time that the step's busiest link needs.
    Paced,
}

/// The time at which a GPU on the way forwards a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Forwarding {
    /// Once its last bit is there.
    #[default]
    StoreAndForward,
    /// Once its header is there.
    CutThrough,
}

/// The condition under which a GPU goes on to its next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Synchronisation {
    /// Once every GPU has all data of this step.
    #[default]
    Barrier,
    /// Once its own data of this step are there and its own packets are out.
    Dataflow,
}

/// The circuits that are dark while the topology changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum ReconfigurationScope {
    /// All circuits.
    #[default]
    Global,
    /// Only the circuits that are set up or torn down.
    Ports,
}

/// Whether one GPU stands for all that are like it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Symmetry {
    /// One GPU of each orbit is simulated; the results are those of all GPUs.
    #[default]
    Quotient,
    /// Every GPU is simulated.
    Full,
}

/// Largest payload and largest header of a packet, bytes.
const MAX_PACKET_BYTES: u32 = 1 << 30;

model::named! {
    Level of "level",
    Injection of "injection",
    Forwarding of "forwarding",
    Synchronisation of "sync",
    ReconfigurationScope of "reconfiguration",
    Symmetry of "symmetry",
}

/// Assumptions of a simulation in addition to the plan and its fabric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Packets or flows.
    pub level: Level,
    /// Payload of a packet, bytes; the last packet of a transfer has the rest.
    pub payload_bytes: u32,
    /// Header of every packet, bytes on the wire in addition to the payload.
    pub header_bytes: u32,
    /// The time at which packets are handed to the first circuit.
    pub injection: Injection,
    /// The time at which packets are forwarded.
    pub forwarding: Forwarding,
    /// The condition under which a GPU goes on to its next step.
    pub sync: Synchronisation,
    /// Time of the barrier between two steps, s, of a plan that states none; nothing under dataflow.
    pub barrier_s: f64,
    /// The circuits that are dark while the topology changes.
    pub reconfiguration: ReconfigurationScope,
    /// Bytes of packets on their way that the far end of a circuit can hold; `None` for no limit.
    pub buffer_bytes: Option<u64>,
    /// The rule by which senders slow down when queues grow.
    pub congestion_control: CongestionControl,
    /// Whether one GPU stands for all that are like it.
    pub symmetry: Symmetry,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            level: Level::default(),
            payload_bytes: 4096,
            header_bytes: 0,
            injection: Injection::default(),
            forwarding: Forwarding::default(),
            sync: Synchronisation::default(),
            barrier_s: 0.0,
            reconfiguration: ReconfigurationScope::default(),
            buffer_bytes: None,
            congestion_control: CongestionControl::None,
            symmetry: Symmetry::default(),
        }
    }
}

impl Settings {
    /// # Errors
    /// A payload of nothing, a buffer that holds no packet, a barrier that takes no finite time or that dataflow
    /// does not have, cut-through where a packet would cross a GPU in no time, or congestion control with flows, paced
    /// packets, buffers or thresholds that do not go with it.
    pub fn check(&self, fabric: &Fabric) -> Result<()> {
        let accepts = format!("1 to {MAX_PACKET_BYTES} bytes");
        if !(1..=MAX_PACKET_BYTES).contains(&self.payload_bytes) {
            return Err(Error::value("packet_size", self.payload_bytes, accepts));
        }
        if self.header_bytes > MAX_PACKET_BYTES {
            return Err(Error::value("header_size", self.header_bytes, format!("0 to {MAX_PACKET_BYTES} bytes")));
        }
        if !(self.barrier_s.is_finite() && self.barrier_s >= 0.0) {
            return Err(Error::value("barrier", self.barrier_s, "a finite time of at least zero"));
        }
        if self.sync == Synchronisation::Dataflow && self.barrier_s > 0.0 {
            return Err(Error::value("barrier", self.barrier_s, "0 under dataflow, which has no barriers"));
        }
        if self.barrier_s > 0.0 && fabric.barrier_s > 0.0 {
            let accepts =
                format!("0: the plan has a barrier of {} before every step", units::show_time(fabric.barrier_s));
            return Err(Error::value("barrier", units::show_time(self.barrier_s), accepts));
        }
        if let Some(buffer) = self.buffer_bytes {
            let packet = u64::from(self.payload_bytes) + u64::from(self.header_bytes);
            if self.level == Level::Flow {
                return Err(Error::value("buffer", buffer, "no limit at flow level, which has no queues"));
            }
            if buffer < packet {
                return Err(Error::value(
                    "buffer",
                    buffer,
                    format!("at least one packet, {packet} bytes, or no limit"),
                ));
            }
        }
        self.check_congestion_control(fabric)?;
        let hop_fs = femtoseconds("hop_delay", fabric.hop_delay_s)?;
        let header_fs = wire_fs(u64::from(self.header_bytes), fabric.bandwidth_bps)?;
        if self.forwarding == Forwarding::CutThrough && hop_fs + header_fs == 0 {
            return Err(Error::value(
                "forwarding",
                self.forwarding.name(),
                "store-and-forward where neither the header nor the hop takes time",
            ));
        }
        Ok(())
    }

    fn check_congestion_control(&self, fabric: &Fabric) -> Result<()> {
        if self.congestion_control.is_none() {
            return Ok(());
        }
        let refused = |field: &str, value: String, accepts: &str| Err(Error::value(field, value, accepts));
        if self.level == Level::Flow {
            return refused("level", "flow".into(), "`packet` under congestion control, which looks at queues");
        }
        if self.injection == Injection::Paced {
            return refused(
                "injection",
                "paced".into(),
                "`burst` under congestion control, which paces senders itself",
            );
        }
        if let Some(buffer) = self.buffer_bytes {
            return refused("buffer", buffer.to_string(), "no limit under congestion control");
        }
        self.congestion_control.check(fabric.bandwidth_bps)
    }
}
