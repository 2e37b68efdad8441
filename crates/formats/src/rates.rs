//! Rates of ports, of pairs of GPUs and of circuits in JSON.

use std::fmt;

use model::{Fabric, PairClasses, PairRates, PortRates, Rank, Result, Shape, Topology, units};
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

/// A rate of all ports, or that of each.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RatesText(Vec<f64>);

impl Serialize for RatesText {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match &self.0[..] {
            [one] => serializer.serialize_f64(*one),
            by_port => by_port.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for RatesText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrMany)
    }
}

struct OneOrMany;

impl<'de> Visitor<'de> for OneOrMany {
    type Value = RatesText;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a number, or a list of numbers by port")
    }

    fn visit_f64<E: Error>(self, rate: f64) -> std::result::Result<RatesText, E> {
        Ok(RatesText(vec![rate]))
    }

    fn visit_u64<E: Error>(self, rate: u64) -> std::result::Result<RatesText, E> {
        self.visit_f64(rate as f64)
    }

    fn visit_i64<E: Error>(self, rate: i64) -> std::result::Result<RatesText, E> {
        self.visit_f64(rate as f64)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> std::result::Result<RatesText, A::Error> {
        let mut rates = Vec::new();
        while let Some(rate) = sequence.next_element()? {
            rates.push(rate);
        }
        Ok(RatesText(rates))
    }
}

impl RatesText {
    /// The rates of a fabric.
    pub(crate) fn of(fabric: &Fabric) -> Self {
        Self(fabric.rates_of_ports_bps())
    }

    /// The rates by port, where they differ, and that of the fastest.
    ///
    /// # Errors
    /// A list of equal rates, which a number says, and the errors of [`PortRates::new`]; they name `field`.
    pub(crate) fn read(&self, field: &str, ports: u32) -> Result<(Option<PortRates>, f64)> {
        if let [one] = self.0[..] {
            return Ok((None, one));
        }
        match PortRates::new(field, &self.0, ports)? {
            Some(rates) => Ok((Some(rates.clone()), rates.fastest_bps())),
            None => Err(model::Error::malformed(field, "its rates are equal; it must be one number")),
        }
    }
}

/// The rates of pairs of GPUs, where a file has them; other pairs have the rate and the hop delay of all.
///
/// # Errors
/// A text that names no classes of pairs, pairs that are all alike, and a rate or delay of all that is out of range.
pub(crate) fn of_pairs(text: Option<&str>, gpus: u32, of_all: (f64, f64)) -> Result<Option<PairRates>> {
    let (field, Some(text)) = ("plan.fabric.pair_rates", text) else { return Ok(None) };
    units::rate_from_f64("plan.fabric.bandwidth_bps", of_all.0)?;
    units::time_from_f64("plan.fabric.hop_delay_s", of_all.1)?;
    let pairs = PairClasses::parse(field, text)?.on(field, gpus, of_all)?;
    if pairs.are_equal() {
        return Err(model::Error::malformed(field, "its pairs have one rate and one hop delay; it must be left out"));
    }
    Ok(Some(pairs))
}

/// The circuits of every listed link by their rate, the fastest first; `None` where all are of one rate.
pub(crate) fn circuits_by_rate(topology: &Topology, links: &[(Rank, Rank, u32)]) -> Option<Vec<Vec<u32>>> {
    let of = |&(src, dst, _): &(Rank, Rank, u32)| topology.circuits_by_rate(src, dst).map(<[u32]>::to_vec);
    topology.is_on_ports().then(|| links.iter().filter_map(of).collect())
}

/// The topology with the circuits of its `links` by rate, as listed.
///
/// # Errors
/// A list where circuits are of one rate, no list where they are not, another number of entries than links, circuits
/// that are not those of the links or are not the same for all links of an orbit, more circuits of a rate than ports,
/// and circuits of another rate than that of their pair of GPUs.
pub(crate) fn on_ports(
    topology: Topology,
    links: &[(Rank, Rank)],
    listed: Option<&[Vec<u32>]>,
    (shape, field): (&Shape, &str),
) -> Result<Topology> {
    let refuse = |reason: &str| Err(model::Error::malformed(format!("{field}.circuits_by_rate"), reason));
    let listed = match (shape.unlike_rates(), listed) {
        (None, None) => return Ok(topology),
        (None, Some(_)) => return refuse("it is there, and all circuits are of one rate"),
        (Some((_, unlike)), None) => return refuse(&format!("it is missing, and there are {unlike}")),
        (Some(_), Some(listed)) => listed,
    };
    if listed.len() != links.len() {
        return refuse("it must have one list for each link");
    }
    let at = |src: Rank, dst: Rank| links.binary_search(&(src, dst)).ok().map(|at| listed[at].clone());
    let dealt = match shape.rates() {
        Some(rates) => topology.on_ports(rates, |link| at(link.src, link.dst).unwrap_or_default()),
        None => Ok(shape.rated(topology)),
    };
    let dealt = dealt.map_err(|error| model::Error::malformed(format!("{field}.circuits_by_rate"), error))?;
    let is_as_listed =
        |(&(src, dst), of): (&(Rank, Rank), &Vec<u32>)| dealt.circuits_by_rate(src, dst) == Some(of.as_slice());
    if !links.iter().zip(listed).all(is_as_listed) {
        return refuse(match shape.pairs() {
            Some(_) => "circuits must have the rates of the pairs of GPUs that they join",
            None => "the topology's symmetry must take circuits to circuits of the same rates",
        });
    }
    Ok(dealt)
}
