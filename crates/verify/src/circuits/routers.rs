//! Light that is led by its wavelength: arrayed waveguide grating routers, numbered as `docs/circuits.md` says.

use model::{Circuits, Connection, Error, Result, Shape};

use crate::report::{Check, Tally};

/// Routers of `awgr:N` or `awgr:NxW` under a fabric.
#[derive(Debug, Clone, Copy)]
pub(super) struct Routers {
    /// Ports of a router, N.
    size: u32,
    /// Wavelengths of a laser, W.
    wavelengths: u32,
    /// Groups of N GPUs.
    groups: u32,
    /// Ports of a GPU.
    ports: u32,
}

impl Routers {
    /// # Errors
    /// Text that describes no routers.
    pub(super) fn of(text: &str, shape: &Shape) -> Result<Self> {
        let numbers: Option<Vec<u32>> =
            text.strip_prefix("awgr:").unwrap_or("").split('x').map(|number| number.parse().ok()).collect();
        let (size, wavelengths) = match numbers.as_deref() {
            Some(&[size]) if size > 0 => (size, size),
            Some(&[size, wavelengths]) if size > 0 => (size, wavelengths),
            _ => {
                let given: String = text.chars().take(60).collect();
                return Err(Error::value("optics", format!("`{given}`"), "`awgr:N` or `awgr:NxW`"));
            }
        };
        Ok(Self { size, wavelengths, groups: shape.gpus().div_ceil(size), ports: shape.ports() })
    }

    /// Routers, and the ports that each needs.
    pub(super) fn switches(self) -> (usize, u32) {
        ((self.groups * self.ports) as usize, self.size)
    }

    /// The GPUs at the ends of a connection of router (group, port): that of the group, and that of the group so many
    /// on as the port has.
    pub(super) fn ends(self, switch: usize, connection: &Connection) -> (u32, u32) {
        let (group, port) = (switch as u32 / self.ports, switch as u32 % self.ports);
        let other = (group + port) % self.groups;
        (group * self.size + connection.ingress - 1, other * self.size + connection.egress - 1)
    }
}

/// Follows the light of every laser: at a wavelength that it has, from its input to the output that the wavelength
/// leads to, which has to be that of its connection. `None` where neither the layer nor the file has wavelengths.
pub(super) fn wavelengths_check(circuits: &Circuits, routers: Option<Routers>) -> Option<Check> {
    let has_some =
        circuits.configurations().iter().flat_map(|one| &one.switches).any(|one| !one.wavelengths.is_empty());
    if routers.is_none() && !has_some {
        return None;
    }
    let mut tally = Tally::new("wavelengths");
    for (index, configuration) in circuits.configurations().iter().enumerate() {
        for (switch, setting) in circuits.switches().iter().zip(&configuration.switches) {
            let at = || format!("configuration {}, {}", index + 1, switch.name);
            let Some(Routers { size, wavelengths, .. }) = routers else {
                tally.expect(setting.wavelengths.is_empty(), || {
                    format!("{} has wavelengths, and the optical layer has no routers", at())
                });
                continue;
            };
            let is_told = tally.expect(setting.wavelengths.len() == setting.connections.len(), || {
                format!(
                    "{} has {} wavelengths for {} connections",
                    at(),
                    setting.wavelengths.len(),
                    setting.connections.len()
                )
            });
            if !is_told {
                continue;
            }
            for (Connection { ingress, egress }, &wavelength) in setting.connections.iter().zip(&setting.wavelengths) {
                let leaves = (u64::from(*ingress) - 1 + u64::from(wavelength)) % u64::from(size) + 1;
                tally.expect(wavelength < wavelengths && leaves == u64::from(*egress), || {
                    format!(
                        "{}: light of wavelength {wavelength} from ingress port {ingress} leaves at egress port {leaves}, \
                         where the circuit is to {egress}; lasers have wavelengths 0 to {}",
                        at(),
                        wavelengths.saturating_sub(1)
                    )
                });
            }
        }
    }
    Some(tally.into_check("comparison", "of wavelengths with the egress ports that routers lead their light to"))
}
