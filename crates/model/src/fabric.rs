//! The photonic fabric: ports, rates, delays, and the topology that it starts in.

use crate::{Electrical, Error, Link, OpticalLayer, PairRates, ReconfigurationPolicy, Result, Shape, Topology, units};

/// The topology in force before the first step.
#[derive(Debug, Clone, PartialEq)]
pub enum Initial {
    /// The plan's first topology, whichever it chooses, at no charge (HARVEST).
    Free,
    /// The topology that is live at the start; changing it before the first step is charged.
    Topology(Topology),
    /// The last step of the plan itself: the plan runs again and again, so that its topologies form a cycle and the
    /// change from the last to the first is charged. It starts when the run before has ended.
    Repeated,
}

impl Initial {
    /// The topology that is given, `None` for a free start and for a repeated plan.
    pub fn given(&self) -> Option<&Topology> {
        match self {
            Self::Topology(topology) => Some(topology),
            Self::Free | Self::Repeated => None,
        }
    }

    /// The topology in force before the first step of a plan whose last step runs on `last`; `None` for a free start.
    pub fn before_first<'a>(&'a self, last: &'a Topology) -> Option<&'a Topology> {
        match self {
            Self::Free => None,
            Self::Topology(topology) => Some(topology),
            Self::Repeated => Some(last),
        }
    }
}

/// A fabric of GPUs behind photonic circuit switches.
#[derive(Debug, Clone, PartialEq)]
pub struct Fabric {
    /// GPUs, their grid, and ports per GPU.
    pub shape: Shape,
    /// Rate of one circuit (one port), bit/s: of the fastest where the ports of the shape have different rates.
    pub bandwidth_bps: f64,
    /// Startup latency α of a step, s.
    pub startup_s: f64,
    /// Barrier of all GPUs before a step, s.
    pub barrier_s: f64,
    /// Delay δ of one hop, s.
    pub hop_delay_s: f64,
    /// The charges of changes of topology.
    pub reconfiguration: ReconfigurationPolicy,
    /// Topology before the first step.
    pub initial: Initial,
    /// Limits on topologies beyond the ports of each GPU; `None` if there are no such limits.
    pub optics: Option<OpticalLayer>,
    /// Electrical switches inside islands of GPUs; `None` where all data goes over circuits.
    pub electrical: Option<Electrical>,
}

impl Fabric {
    /// Bit/s of every port, as one number where all are alike; where pairs of GPUs have different rates, the fastest.
    pub fn rates_of_ports_bps(&self) -> Vec<f64> {
        self.shape.rates().map_or_else(|| vec![self.bandwidth_bps], crate::PortRates::by_port_bps)
    }

    /// # Errors
    /// A rate, delay or window outside its range ([`crate::ranges`]), or an initial topology of another size or with
    /// more circuits per GPU than there are ports.
    pub fn check(&self) -> Result<()> {
        units::rate_from_f64("bandwidth", self.bandwidth_bps)?;
        units::time_from_f64("startup", self.startup_s)?;
        units::time_from_f64("barrier", self.barrier_s)?;
        units::time_from_f64("hop_delay", self.hop_delay_s)?;
        self.check_rates()?;
        self.check_pairs()?;
        self.reconfiguration.check(self.shape.ports())?;
        if let Some(electrical) = &self.electrical {
            electrical.check("electrical")?;
            electrical.check_gpus("electrical", self.shape.gpus())?;
        }
        if self.electrical.is_some() && self.shape.positions().is_some() {
            return Err(Error::value(
                "positions",
                "a list of places",
                "only fibres that take no time with electrical islands",
            ));
        }
        if let Initial::Topology(topology) = &self.initial {
            if topology.ranks() != self.shape.gpus() {
                return Err(Error::value(
                    "initial",
                    format!("{} of {} GPUs", topology.name(), topology.ranks()),
                    format!("a topology of {} GPUs", self.shape.gpus()),
                ));
            }
            topology.check_ports(self.shape.ports()).map_err(|error| error.in_field("initial"))?;
        }
        Ok(())
    }

    /// Seconds that a hop takes on a topology: δ and the light through the longest fibre of its circuits, or the
    /// largest hop delay of the pairs that they join. No path takes longer than its hops times that.
    pub fn hop_delay_on_s(&self, topology: &Topology) -> f64 {
        match self.shape.pairs() {
            Some(pairs) => pairs.largest_hop_delay_s(topology),
            None => self.hop_delay_s + self.longest_fibre_s(topology),
        }
    }

    /// Seconds that a hop takes on a topology in addition to δ: 0 where all circuits are alike.
    pub fn added_hop_s(&self, topology: &Topology) -> f64 {
        match self.shape.pairs() {
            Some(pairs) => pairs.largest_hop_delay_s(topology) - self.hop_delay_s,
            None => self.longest_fibre_s(topology),
        }
    }

    /// Seconds that light takes through the longest fibre of a topology; 0 where nothing is said about positions.
    fn longest_fibre_s(&self, topology: &Topology) -> f64 {
        let Some(positions) = self.shape.positions() else { return 0.0 };
        let gpus = |link: Link| (self.shape.gpu_of(link.src), self.shape.gpu_of(link.dst));
        positions.longest_s(topology.expanded().into_iter().map(gpus))
    }

    /// # Errors
    /// A rate of circuits that is not that of the fastest port, or what does not go with ports of different rates:
    /// changes that are not all charged the same, electrical islands, and an optical layer that shares ports.
    fn check_rates(&self) -> Result<()> {
        let Some(rates) = self.shape.rates() else { return Ok(()) };
        let refuse = |field: &str, value: &str, accepts: &str| {
            Err(Error::value(field, value, format!("{accepts} where ports have different rates (`bandwidth`)")))
        };
        if rates.fastest_bps() != self.bandwidth_bps {
            return refuse("bandwidth", "another rate of circuits", "the rate of the fastest port");
        }
        if self.reconfiguration.compares_topologies() {
            return refuse(
                "reconfiguration_delay",
                "a delay that depends on the circuits",
                "one delay for every change",
            );
        }
        if self.electrical.is_some() {
            return refuse("electrical", "a switch inside islands", "only circuits");
        }
        if let Some(layer) = self.optics.as_ref().filter(|layer| !["crossbar", "parallel"].contains(&layer.spelling()))
        {
            return refuse("optics", layer.spelling(), "`crossbar` or `parallel`");
        }
        if self.shape.positions().is_some() {
            return refuse("positions", "a list of places", "only fibres that take no time");
        }
        Ok(())
    }

    /// # Errors
    /// A rate of circuits or a hop delay that is not the best of the pairs, and the settings that rates by pair
    /// exclude: rates by port, electrical islands, and fibres that take time.
    fn check_pairs(&self) -> Result<()> {
        let Some(pairs) = self.shape.pairs() else { return Ok(()) };
        let refuse = |field: &str, value: &str, accepts: &str| {
            Err(Error::value(field, value, format!("{accepts} where pairs have different rates (`pair_rates`)")))
        };
        if self.shape.rates().is_some() {
            return refuse("bandwidth", "a rate for each port", "one rate");
        }
        if pairs.fastest_bps() != self.bandwidth_bps {
            return refuse("bandwidth", "another rate of circuits", "the rate of the fastest pair");
        }
        if pairs.least_hop_delay_s() != self.hop_delay_s {
            return refuse("hop_delay", "another delay of hops", "the least delay of a pair");
        }
        if self.electrical.is_some() {
            return refuse("electrical", "a switch inside islands", "only circuits");
        }
        if self.shape.positions().is_some() {
            return refuse("positions", "a list of places", "only hop delays of pairs");
        }
        Ok(())
    }

    /// This fabric with the rates and hop delays of pairs of its GPUs, of which its own are the best.
    ///
    /// # Errors
    /// Rates of another number of GPUs.
    pub fn with_pairs(self, pairs: PairRates) -> Result<Self> {
        let (bandwidth_bps, hop_delay_s) = (pairs.fastest_bps(), pairs.least_hop_delay_s());
        let shape = self.shape.with_pairs(Some(pairs))?;
        let initial = match self.initial {
            Initial::Topology(topology) => Initial::Topology(shape.rated(topology.on_any_ports())),
            other => other,
        };
        Ok(Self { shape, bandwidth_bps, hop_delay_s, initial, ..self })
    }

    /// This fabric with a hop delay that most topologies have at least: with light in the fibre from each GPU to the
    /// nearer of the two next to it by number, or the largest delay of two GPUs next to each other by number. It is for
    /// searches that know one hop delay, whose results are priced anew.
    pub fn with_likely_hops(&self) -> Self {
        let gpus = self.shape.gpus();
        if let Some(pairs) = self.shape.pairs() {
            let next_s = |rank: u32| pairs.hop_delay_s(rank, (rank + 1) % gpus);
            return Self { hop_delay_s: (0..gpus).map(next_s).fold(0.0, f64::max), ..self.clone() };
        }
        let Some(positions) = self.shape.positions() else { return self.clone() };
        let fibre_m = |rank: u32, other: u32| positions.fibre_m(self.shape.gpu_of(rank), self.shape.gpu_of(other));
        let nearer_m = |rank: u32| fibre_m(rank, (rank + 1) % gpus).min(fibre_m(rank, (rank + gpus - 1) % gpus));
        let longest_m = (0..gpus).map(nearer_m).fold(0.0, f64::max);
        Self { hop_delay_s: self.hop_delay_s + longest_m * positions.delay_s_per_m(), ..self.clone() }
    }

    /// Seconds that every step takes whatever it sends: its barrier and its startup latency.
    pub fn per_step_s(&self) -> f64 {
        self.startup_s + self.barrier_s
    }

    /// β: seconds per byte on one circuit.
    pub fn byte_s(&self) -> f64 {
        8.0 / self.bandwidth_bps
    }

    /// Name of the initial topology, `free` for none, `repeated` when it is that of the last step.
    pub fn initial_name(&self) -> &str {
        match &self.initial {
            Initial::Free => "free",
            Initial::Topology(topology) => topology.name(),
            Initial::Repeated => "repeated",
        }
    }
}
