//! A lower bound on the connections that any assignment sets up.

use super::colouring::{Colouring, DARK};
use super::two_switches::Parts;

/// No assignment of these circuits to the switches sets up fewer connections after the first topology: those that the
/// topology before lacks are new on any switch. On two switches circuits that hang together are on fixed sides of each
/// other, so that of two parts that share circuits at most those of the better of two positions stay.
pub(super) fn least_connects(colourings: &[Colouring]) -> u64 {
    let all: u64 = colourings.iter().skip(1).map(Colouring::circuits).sum();
    if let Some([_, _]) = colourings.first().map(|first| &first.out[..]) {
        let pairs = Parts::of(colourings, (0, 1)).pairs(colourings, (0, 1), [1.0; 2]);
        let kept: f64 = pairs.iter().map(|pair| pair.kept.iter().flatten().copied().fold(0.0, f64::max)).sum();
        return all - kept as u64;
    }
    let both = |pair: &[Colouring]| {
        let [before, after] = [&pair[0], &pair[1]].map(sorted_circuits);
        let (mut before, mut after) = (before.iter().peekable(), after.iter().peekable());
        let mut both = 0;
        while let (Some(had), Some(has)) = (before.peek(), after.peek()) {
            both += u64::from(had == has);
            let (forward_had, forward_has) = (had <= has, has <= had);
            if forward_had {
                before.next();
            }
            if forward_has {
                after.next();
            }
        }
        both
    };
    all - colourings.windows(2).map(both).sum::<u64>()
}

/// The circuits; parallel ones are listed several times.
fn sorted_circuits(colouring: &Colouring) -> Vec<(usize, u32)> {
    let of_switch =
        |out: &Vec<u32>| out.iter().copied().enumerate().filter(|&(_, dst)| dst != DARK).collect::<Vec<_>>();
    let mut circuits: Vec<(usize, u32)> = colouring.out.iter().flat_map(of_switch).collect();
    circuits.sort_unstable();
    circuits
}
