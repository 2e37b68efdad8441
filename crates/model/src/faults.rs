//! Faults of a fabric: broken GPUs, transmitters and receivers, circuits between pairs, and whole switch planes.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::{Error, Result};

/// A part of a fabric that does not work. GPUs and ports count from 0, as in the port maps of switches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fault {
    /// A GPU, with all of its ports: it takes part in no collective and forwards nothing.
    Gpu(u32),
    /// The transmitter of one port of a GPU.
    Transmitter {
        /// The GPU.
        gpu: u32,
        /// The port.
        port: u32,
    },
    /// The receiver of one port of a GPU.
    Receiver {
        /// The GPU.
        gpu: u32,
        /// The port.
        port: u32,
    },
    /// Circuits between two GPUs, in both directions. The first is the smaller one.
    Link(u32, u32),
    /// Circuits from the first GPU to the second.
    OneWay(u32, u32),
    /// A switch plane: the transmitter and the receiver of this port of every GPU.
    Switch(u32),
}

/// The forms of a fault, for errors.
pub const FAULT_FORMS: &str = "gpu:G, port:G.P (a transmitter), receiver:G.P, link:A-B (both ways), link:A>B (one way) \
    or switch:P, numbers from 0, such as gpu:3,port:5.1";

impl FromStr for Fault {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let text = text.trim();
        let parsed = text.split_once(':').and_then(|(kind, rest)| {
            let pair = |by: char| rest.split_once(by).and_then(|(a, b)| Some((number(a)?, number(b)?)));
            match kind {
                "gpu" => number(rest).map(Self::Gpu),
                "port" => pair('.').map(|(gpu, port)| Self::Transmitter { gpu, port }),
                "receiver" => pair('.').map(|(gpu, port)| Self::Receiver { gpu, port }),
                "link" => match pair('-') {
                    Some((a, b)) => Some(Self::Link(a.min(b), a.max(b))),
                    None => pair('>').map(|(src, dst)| Self::OneWay(src, dst)),
                },
                "switch" => number(rest).map(Self::Switch),
                _ => None,
            }
        });
        parsed.ok_or_else(|| {
            let shown: String = text.chars().take(60).collect();
            Error::value("failed", format!("`{shown}`"), FAULT_FORMS)
        })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gpu(gpu) => write!(to, "gpu:{gpu}"),
            Self::Transmitter { gpu, port } => write!(to, "port:{gpu}.{port}"),
            Self::Receiver { gpu, port } => write!(to, "receiver:{gpu}.{port}"),
            Self::Link(a, b) => write!(to, "link:{a}-{b}"),
            Self::OneWay(src, dst) => write!(to, "link:{src}>{dst}"),
            Self::Switch(port) => write!(to, "switch:{port}"),
        }
    }
}

/// Digits alone.
fn number(text: &str) -> Option<u32> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

/// All faults of a fabric, each once, in order. The default has none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Faults(Option<Arc<[Fault]>>);

impl FromIterator<Fault> for Faults {
    fn from_iter<I: IntoIterator<Item = Fault>>(faults: I) -> Self {
        let all: BTreeSet<Fault> = faults.into_iter().collect();
        Self((!all.is_empty()).then(|| all.into_iter().collect()))
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.all().iter().map(Fault::to_string).collect();
        to.write_str(&texts.join(","))
    }
}

impl Faults {
    /// The faults, in order.
    pub fn all(&self) -> &[Fault] {
        self.0.as_deref().unwrap_or(&[])
    }

    /// Whether everything works.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// # Errors
    /// A GPU, port or switch that a fabric of `gpus` GPUs with `ports` ports does not have; a link from a GPU to itself.
    pub fn check(&self, gpus: u32, ports: u32) -> Result<()> {
        for fault in self.all() {
            let (named, port) = match *fault {
                Fault::Gpu(gpu) => ([gpu; 2], 0),
                Fault::Transmitter { gpu, port } | Fault::Receiver { gpu, port } => ([gpu; 2], port),
                Fault::Link(a, b) | Fault::OneWay(a, b) if a != b => ([a, b], 0),
                Fault::Link(..) | Fault::OneWay(..) => {
                    return Err(Error::value("failed", format!("`{fault}`"), "a link between two different GPUs"));
                }
                Fault::Switch(port) => ([0; 2], port),
            };
            if named.iter().any(|&gpu| gpu >= gpus) {
                return Err(Error::value("failed", format!("`{fault}`"), format!("GPUs 0 to {}", gpus - 1)));
            }
            if port >= ports {
                return Err(Error::value("failed", format!("`{fault}`"), format!("ports 0 to {}", ports - 1)));
            }
        }
        Ok(())
    }

    /// The faults of a fabric that has of its GPUs these alone, by their places among them.
    #[must_use]
    pub fn among(&self, gpus: &[u32]) -> Self {
        let place = |gpu: u32| gpus.iter().position(|&other| other == gpu).map(|place| place as u32);
        let moved = self.all().iter().filter_map(|&fault| {
            Some(match fault {
                Fault::Gpu(gpu) => Fault::Gpu(place(gpu)?),
                Fault::Transmitter { gpu, port } => Fault::Transmitter { gpu: place(gpu)?, port },
                Fault::Receiver { gpu, port } => Fault::Receiver { gpu: place(gpu)?, port },
                Fault::Link(one, other) => {
                    let (one, other) = (place(one)?, place(other)?);
                    Fault::Link(one.min(other), one.max(other))
                }
                Fault::OneWay(src, dst) => Fault::OneWay(place(src)?, place(dst)?),
                Fault::Switch(port) => Fault::Switch(port),
            })
        });
        moved.collect()
    }

    /// Whether a GPU does not work.
    pub fn has_gpu(&self, gpu: u32) -> bool {
        self.all().contains(&Fault::Gpu(gpu))
    }

    /// Whether the transmitter of a port works.
    pub fn sends(&self, gpu: u32, port: u32) -> bool {
        !self.all().iter().any(|&fault| {
            fault == Fault::Gpu(gpu) || fault == Fault::Transmitter { gpu, port } || fault == Fault::Switch(port)
        })
    }

    /// Whether the receiver of a port works.
    pub fn receives(&self, gpu: u32, port: u32) -> bool {
        !self.all().iter().any(|&fault| {
            fault == Fault::Gpu(gpu) || fault == Fault::Receiver { gpu, port } || fault == Fault::Switch(port)
        })
    }

    /// Whether circuits from one GPU to another can be made, where both have ports that work.
    pub fn joins(&self, src: u32, dst: u32) -> bool {
        let both_ways = Fault::Link(src.min(dst), src.max(dst));
        !self.all().iter().any(|&fault| fault == both_ways || fault == Fault::OneWay(src, dst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Faults {
        text.split(',').map(|one| one.parse::<Fault>().unwrap()).collect()
    }

    #[test]
    fn faults_are_read_and_written() {
        let text = "gpu:3,port:5.2,receiver:6.1,link:0-7,link:2>1,switch:2";
        assert_eq!(faults(text).to_string(), text);
        assert_eq!(faults("switch:2,link:7-0,gpu:3,gpu:3").to_string(), "gpu:3,link:0-7,switch:2");
        assert_eq!(Faults::default().to_string(), "");
    }

    #[test]
    fn other_texts_are_refused_with_the_forms() {
        for text in [
            "",
            "gpu",
            "gpu:",
            "gpu:-1",
            "gpu:1.2",
            "port:1",
            "port:1.",
            "link:1",
            "link:1-2-3",
            "plane:1",
            "gpu:99999999999",
        ] {
            let error = text.parse::<Fault>().unwrap_err();
            assert_eq!(error.field(), "failed", "{text}");
        }
    }

    #[test]
    fn faults_of_other_gpus_are_left_out() {
        let all = faults("gpu:2,port:5.2,receiver:6.1,port:0.0,link:0-7,link:2>1,link:5>0,switch:2");
        assert_eq!(all.among(&[5, 7, 0]).to_string(), "port:0.2,port:2.0,link:1-2,link:0>2,switch:2");
    }

    #[test]
    fn faults_outside_of_the_fabric_are_refused() {
        for text in ["gpu:8", "port:8.0", "port:0.2", "receiver:0.2", "link:0-8", "link:3-3", "link:3>3", "switch:2"] {
            assert_eq!(faults(text).check(8, 2).unwrap_err().field(), "failed", "{text}");
        }
        assert!(faults("gpu:7,port:7.1,receiver:0.0,link:0-7,switch:1").check(8, 2).is_ok());
    }
}
