//! Records of a network that is stopped now and then.

/// When the network is stopped, and what was under way when it was stopped before.
#[derive(Debug, Default)]
pub(super) struct Cycles {
    /// Packets that arrive later are not served; `None` where there is no such end.
    pub(super) stop_fs: Option<u64>,
    /// Time from stop to stop, fs.
    pub(super) between_fs: u64,
    pub(super) stops: u64,
    pub(super) before: Option<Stopped>,
}

/// The network at a time when it was stopped.
#[derive(Debug)]
pub(super) struct Stopped {
    pub(super) now_fs: u64,
    /// All that its future depends on but the packets that senders have yet to hand over, in times after that time.
    pub(super) under_way: Vec<u64>,
    /// Flows that have packets to hand over, and how many.
    pub(super) lines: Vec<(u32, u64)>,
    /// Packets that are not yet served, by server.
    pub(super) servers: Vec<u64>,
    /// Packets that have not yet entered, by lane.
    pub(super) lanes: Vec<u64>,
}

impl Stopped {
    /// Whether `now` is the same state as this one, at a later time.
    pub(super) fn comes_back(&self, now: &Self) -> bool {
        let flows = |(before, now): (&(u32, u64), &(u32, u64))| before.0 == now.0;
        self.under_way == now.under_way
            && self.lines.len() == now.lines.len()
            && self.lines.iter().zip(&now.lines).all(flows)
    }
}
