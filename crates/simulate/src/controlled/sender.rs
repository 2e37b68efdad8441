//! The packets of a flow at its sender, and what is told to it.

use crate::congestion::CongestionControl;
use crate::congestion::dcqcn::Rate;
use crate::congestion::window::Cwnd;
use crate::network::QueueingNetwork;
use crate::packet::Packet;

/// The limit that congestion control sets for a flow.
#[derive(Debug, Clone)]
enum Held {
    By(Rate),
    Within(Cwnd),
}

/// The sender of a flow.
#[derive(Debug, Clone)]
pub(super) struct Sender {
    flow: u32,
    packets: u64,
    /// Packets that were handed over.
    pub(super) sent: u64,
    pub(super) released_fs: u64,
    /// The time at which its rate lets it send the next packet.
    next_fs: u64,
    held: Held,
    /// Time from the receiver to the sender.
    back_fs: u64,
    /// Least time between two notifications.
    quiet_fs: u64,
    /// The time at which the receiver last sent one.
    notified_fs: Option<u64>,
    /// The next time at which a timer is known to run out.
    timer_fs: Option<u64>,
    pub(super) notifications: u64,
    pub(super) decreases: u64,
}

impl Sender {
    /// The sender of `flow` before its first packet, under a `control` that is not none.
    pub(super) fn new(network: &QueueingNetwork, flow: u32, control: &CongestionControl, bandwidth_bps: f64) -> Self {
        let sent = &network.flows[flow as usize];
        let hops = sent.streams.len() as u64;
        let back_fs = hops * network.hop.delay_fs;
        let first = network.size(sent, 0);
        let (held, quiet_s) = match control {
            CongestionControl::Window(window) => {
                let forth_fs = hops * (network.hop.delay_fs + first.wire_fs);
                let bytes = (forth_fs + back_fs) as f64 * bandwidth_bps / 8e15;
                (Held::Within(Cwnd::new(*window, first.bytes, bytes.ceil() as u64)), 0.0)
            }
            CongestionControl::Dcqcn(dcqcn) => {
                (Held::By(Rate::new(*dcqcn, bandwidth_bps)), dcqcn.notification_interval_s)
            }
            CongestionControl::None => (Held::By(Rate::new(Default::default(), bandwidth_bps)), 0.0),
        };
        Self {
            flow,
            packets: sent.packets,
            sent: 0,
            released_fs: 0,
            next_fs: 0,
            held,
            back_fs,
            quiet_fs: (quiet_s * 1e15).round() as u64,
            notified_fs: None,
            timer_fs: None,
            notifications: 0,
            decreases: 0,
        }
    }

    /// Packets that are not yet handed over.
    pub(super) fn left(&self) -> u64 {
        self.packets - self.sent
    }

    pub(super) fn release(&mut self, now_fs: u64) {
        (self.released_fs, self.next_fs) = (now_fs, now_fs);
    }

    pub(super) fn next_packet(&self, network: &QueueingNetwork) -> Packet {
        network.size(&network.flows[self.flow as usize], self.sent)
    }

    /// The time from which on the next packet may be sent; never, as far as is known, where the window is full.
    pub(super) fn ready_fs(&self, network: &QueueingNetwork) -> u64 {
        match &self.held {
            Held::Within(window) if !window.has_room(self.next_packet(network).bytes) => u64::MAX,
            _ => self.next_fs,
        }
    }

    /// Hands over the next packet at `now_fs`.
    pub(super) fn hand_over(&mut self, now_fs: u64, packet: Packet) {
        self.sent += 1;
        match &mut self.held {
            Held::By(rate) => {
                rate.sent(packet.bytes);
                self.next_fs = now_fs.saturating_add(rate.spacing_fs(packet.wire_fs));
            }
            Held::Within(window) => window.sent(packet.bytes),
        }
    }

    /// The time at which the sender is told of a packet that is received at `received_fs`, if it is.
    pub(super) fn told_fs(&mut self, received_fs: u64, is_marked: bool) -> Option<u64> {
        if let Held::By(_) = self.held {
            let is_quiet = self.notified_fs.is_some_and(|last_fs| received_fs < last_fs + self.quiet_fs);
            if !is_marked || is_quiet {
                return None;
            }
            self.notified_fs = Some(received_fs);
            self.notifications += 1;
        }
        Some(received_fs + self.back_fs)
    }

    /// Takes note of an acknowledgement or notification that arrives at `now_fs`.
    pub(super) fn tell(&mut self, now_fs: u64, bytes: u64, is_marked: bool) {
        if self.left() == 0 {
            return;
        }
        match &mut self.held {
            Held::By(rate) => rate.notify(now_fs),
            Held::Within(window) => self.decreases += window.acknowledge(bytes, is_marked),
        }
    }

    /// Does what is due at `now_fs`; whether anything is.
    pub(super) fn expire(&mut self, now_fs: u64) -> bool {
        let Held::By(rate) = &mut self.held else { return false };
        if self.packets == self.sent || rate.next_fs() != Some(now_fs) {
            return false;
        }
        self.decreases += rate.expire(now_fs);
        true
    }

    /// The time at which the next timer runs out, where it is not the one that was last told.
    pub(super) fn new_timer_fs(&mut self) -> Option<u64> {
        let Held::By(rate) = &self.held else { return None };
        let next_fs = rate.next_fs();
        if next_fs == self.timer_fs {
            return None;
        }
        self.timer_fs = next_fs;
        next_fs
    }
}
