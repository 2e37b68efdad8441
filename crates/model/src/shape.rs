//! The fabric's shape that algorithms and topology families are asked to work on.

use std::sync::Arc;

use crate::{Error, Faults, PairRates, PortRates, Positions, Rank, Result, Topology};

/// Ranks, their grid, ports per rank, what of them does not work, and where they stand.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Shape {
    gpus: u32,
    dims: Vec<u32>,
    ports: u32,
    subset: Option<Subset>,
    faults: Faults,
    positions: Option<Arc<Positions>>,
    rates: Option<PortRates>,
    pairs: Option<PairRates>,
}

/// Some GPUs of a fabric, in the order of the ranks that they have in a collective.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Subset {
    fabric_gpus: u32,
    gpus: Arc<[u32]>,
}

/// More GPUs than this are refused.
pub const MAX_GPUS: u32 = 65_536;
/// More ports than this are refused.
pub const MAX_PORTS: u32 = 1024;

impl Shape {
    /// `gpus` ranks with `ports` ports each, on the grid `dims` (row-major, last dimension fastest);
    /// empty `dims` means one dimension.
    ///
    /// # Errors
    /// Fewer than 2 GPUs, no port, or dimensions whose product is not `gpus`.
    pub fn new(gpus: u32, dims: &[u32], ports: u32) -> Result<Self> {
        if !(2..=MAX_GPUS).contains(&gpus) {
            return Err(Error::value("gpus", gpus, format!("2 to {MAX_GPUS}")));
        }
        if !(1..=MAX_PORTS).contains(&ports) {
            return Err(Error::value("ports", ports, format!("1 to {MAX_PORTS}")));
        }
        let dims = if dims.is_empty() { vec![gpus] } else { dims.to_vec() };
        let product = dims.iter().try_fold(1u32, |product, &dim| product.checked_mul(dim));
        if dims.len() > 1 && dims.iter().any(|&dim| dim < 2) || product != Some(gpus) {
            let shown: Vec<String> = dims.iter().map(u32::to_string).collect();
            return Err(Error::value("dims", shown.join("x"), format!("sizes of at least 2 whose product is {gpus}")));
        }
        Ok(Self {
            gpus,
            dims,
            ports,
            subset: None,
            faults: Faults::default(),
            positions: None,
            rates: None,
            pairs: None,
        })
    }

    /// This shape, whose ranks are some GPUs of a fabric: rank r is GPU `gpus[r]` of `fabric_gpus`.
    ///
    /// # Errors
    /// Another number of GPUs than ranks, a GPU that the fabric does not have, or one that comes twice.
    pub fn among(self, fabric_gpus: u32, gpus: Vec<u32>) -> Result<Self> {
        if fabric_gpus > MAX_GPUS {
            return Err(Error::value("fabric_gpus", fabric_gpus, format!("at most {MAX_GPUS}")));
        }
        if gpus.len() != self.gpus as usize {
            return Err(Error::value(
                "ranks",
                format!("{} GPUs", gpus.len()),
                format!("{}, one for a rank", self.gpus),
            ));
        }
        let mut sorted = gpus.clone();
        sorted.sort_unstable();
        if let Some(&outside) = sorted.last().filter(|&&last| last >= fabric_gpus) {
            return Err(Error::value("ranks", outside, format!("GPUs 0 to {}", fabric_gpus.saturating_sub(1))));
        }
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::value("ranks", format!("GPU {} twice", twice[0]), "each GPU once"));
        }
        Ok(Self { subset: Some(Subset { fabric_gpus, gpus: gpus.into() }), ..self })
    }

    /// This shape with these faults of its fabric, in place of any before.
    ///
    /// # Errors
    /// A GPU or port that the fabric does not have.
    pub fn with_faults(self, faults: Faults) -> Result<Self> {
        faults.check(self.fabric_gpus(), self.ports)?;
        Ok(Self { faults, ..self })
    }

    /// This shape with the GPUs of its fabric at these places.
    ///
    /// # Errors
    /// Another number of places than GPUs of the fabric.
    pub fn at_positions(self, positions: Option<Arc<Positions>>) -> Result<Self> {
        if let Some(positions) = &positions {
            positions.check(self.fabric_gpus())?;
        }
        Ok(Self { positions, ..self })
    }

    /// This shape with ports of these rates, in place of any before; all ports are alike for `None`.
    #[must_use]
    pub fn with_rates(self, rates: Option<PortRates>) -> Self {
        Self { rates, ..self }
    }

    /// This shape with circuits of these rates and hop delays by pair of GPUs; all are alike for `None`.
    ///
    /// # Errors
    /// Rates of another number of GPUs.
    pub fn with_pairs(self, pairs: Option<PairRates>) -> Result<Self> {
        match &pairs {
            Some(rates) if rates.gpus() != self.gpus => {
                Err(Error::value("pair_rates", format!("rates of {} GPUs", rates.gpus()), format!("{}", self.gpus)))
            }
            _ => Ok(Self { pairs: pairs.filter(|rates| !rates.are_equal()), ..self }),
        }
    }

    /// The rates and hop delays of circuits by pair of GPUs; `None` where they are alike.
    pub fn pairs(&self) -> Option<&PairRates> {
        self.pairs.as_ref()
    }

    /// A topology with the rates of its circuits by pair of GPUs, where these differ.
    #[must_use]
    pub fn rated(&self, topology: Topology) -> Topology {
        match &self.pairs {
            Some(pairs) => topology.at_rates_of(pairs),
            None => topology,
        }
    }

    /// Whether a circuit takes as long for a hop as any other, and is as fast, wherever it is.
    pub fn circuits_are_alike(&self) -> bool {
        self.rates.is_none() && self.pairs.is_none() && self.positions.is_none()
    }

    /// The option by which circuits have different rates, and the noun for these; `None` where all are of one rate.
    pub fn unlike_rates(&self) -> Option<(&'static str, &'static str)> {
        match (&self.rates, &self.pairs) {
            (Some(_), _) => Some(("bandwidth", "ports of different rates")),
            (None, Some(_)) => Some(("pair_rates", "pairs of GPUs with different rates")),
            (None, None) => None,
        }
    }

    /// The rates of a GPU's circuits, bit/s, the fastest first; none where all are of one rate.
    pub fn rates_bps(&self) -> Vec<f64> {
        let of_ports =
            self.rates.as_ref().map(|rates| rates.classes().into_iter().map(|class| class.rate_bps).collect());
        of_ports.or_else(|| self.pairs.as_ref().map(PairRates::rates_bps)).unwrap_or_default()
    }

    /// The rates of the ports of a GPU; `None` where they are alike.
    pub fn rates(&self) -> Option<&PortRates> {
        self.rates.as_ref()
    }

    /// The same ranks at the same places with `ports` ports each, all of which work and are alike.
    ///
    /// # Errors
    /// A number of ports out of range.
    pub fn without_faults(&self, ports: u32) -> Result<Self> {
        let Self { gpus, dims, subset, positions, .. } = self.clone();
        Ok(Self { subset, positions, ..Self::new(gpus, &dims, ports)? })
    }

    /// The faults of the fabric.
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// Where the GPUs of the fabric are; `None` where nothing is said about it.
    pub fn positions(&self) -> Option<&Arc<Positions>> {
        self.positions.as_ref()
    }

    /// The GPUs of the fabric that the ranks are, in the order of ranks; `None` where they are all of its GPUs in their
    /// own order.
    pub fn subset(&self) -> Option<&[u32]> {
        self.subset.as_ref().map(|subset| &*subset.gpus)
    }

    /// Number of GPUs of the fabric, those that are no ranks included.
    pub fn fabric_gpus(&self) -> u32 {
        self.subset.as_ref().map_or(self.gpus, |subset| subset.fabric_gpus)
    }

    /// The GPU of the fabric that a rank is.
    pub fn gpu_of(&self, rank: Rank) -> u32 {
        self.subset.as_ref().map_or(rank, |subset| subset.gpus[rank as usize])
    }

    /// Number of ranks n.
    pub fn gpus(&self) -> u32 {
        self.gpus
    }

    /// Grid of the ranks, `[n]` when they lie in a line.
    pub fn dims(&self) -> &[u32] {
        &self.dims
    }

    /// Ports per GPU d: the out-degree and the in-degree that a topology may have.
    pub fn ports(&self) -> u32 {
        self.ports
    }

    /// Coordinates of a rank, in the order of `dims`.
    pub fn coordinates(&self, rank: u32) -> Vec<u32> {
        let mut rest = rank;
        let mut coordinates: Vec<u32> = self
            .dims
            .iter()
            .rev()
            .map(|&dim| {
                let c = rest % dim;
                rest /= dim;
                c
            })
            .collect();
        coordinates.reverse();
        coordinates
    }

    /// Rank at the coordinates, the inverse of [`Shape::coordinates`].
    pub fn rank(&self, coordinates: &[u32]) -> u32 {
        self.dims.iter().zip(coordinates).fold(0, |rank, (&dim, &c)| rank * dim + c)
    }
}
