//! Rip-up and re-route with negotiated congestion (PathFinder; McMurchie and Ebeling, FPGA 1995).
//!
//! Circuits may share places at first, for a price. In every pass the circuits that share are taken out and routed
//! again, where sharing costs more from pass to pass and a place costs more the longer it has been fought over;
//! circuits that have another way leave the places to those that have none.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::layout::Mesh;
use super::routing::{Path, Usage};
use super::search::{BLOCKED, STEP, Search};
use crate::circuit::Circuit;
use crate::cutoffs::mesh_negotiation::{MOST_COST, MOST_PASSES};

/// Passes without fewer shared places than ever before, after which it ends.
const PATIENCE: u32 = 40;
/// Rise of a place's price with every pass in which it is shared.
const RISE: u32 = STEP / 2;

/// The result of the negotiation.
pub(super) struct Negotiated {
    /// A path for each circuit, of the pass with the fewest shared places; `None` where the mesh has no path within the
    /// limit.
    pub paths: Vec<Option<Path>>,
    /// Rise of each place's price.
    pub history: Vec<u32>,
    pub passes: u32,
}

/// Negotiates from the paths that are known, some circuits having none. The order in which circuits are routed again
/// within a pass is drawn with the seed; it ends when its searches have looked at `most_states` states.
pub(super) fn negotiate(
    mesh: &Mesh,
    circuits: &[Circuit],
    known: &[Option<Path>],
    search: &mut Search,
    (seed, most_states): (u64, u64),
) -> Negotiated {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut usage = Usage::new(mesh);
    let mut paths = known.to_vec();
    for path in paths.iter().flatten() {
        usage.add(mesh, path);
    }
    let mut history = vec![0_u32; usage.len()];
    let mut best = (u64::MAX, paths.clone());
    let (mut pass, mut since_best) = (0, 0);
    let mut again: Vec<usize> = (0..circuits.len()).filter(|&index| paths[index].is_none()).collect();
    let begun = search.states();
    while search.states() - begun < most_states && pass < MOST_PASSES && since_best < PATIENCE {
        pass += 1;
        again.shuffle(&mut rng);
        for &index in &again {
            interruption::check();
            if let Some(path) = &paths[index] {
                // Others may have stopped using it since the pass began.
                if usage.places(mesh, path).all(|place| usage.excess(place) == 0) {
                    continue;
                }
                usage.remove(mesh, path);
            }
            let price = |place: usize| price(&usage, &history, place, pass);
            paths[index] = search.cheapest(circuits[index], true, price);
            if let Some(path) = &paths[index] {
                usage.add(mesh, path);
            }
        }
        let mut shared = 0;
        for (place, history) in history.iter_mut().enumerate() {
            let excess = usage.excess(place);
            shared += u64::from(excess);
            *history += RISE * excess;
        }
        since_best += 1;
        if shared < best.0 {
            best = (shared, paths.clone());
            since_best = 0;
        }
        if shared == 0 {
            break;
        }
        again = (0..circuits.len())
            .filter(|&index| {
                let shares = |path: &Path| usage.places(mesh, path).any(|place| usage.excess(place) > 0);
                paths[index].as_ref().is_some_and(shares)
            })
            .collect();
    }
    Negotiated { paths: best.1, history, passes: pass }
}

/// The cost of a place for one more circuit: a step, the rise of its price, and both more where it is full already.
fn price(usage: &Usage, history: &[u32], place: usize, pass: u32) -> u32 {
    let room = usage.room(place);
    if room == 0 {
        return BLOCKED;
    }
    let too_many = u64::from((usage.of(place) + 1).saturating_sub(room));
    let own = u64::from(STEP + history[place]);
    let price = own * (1 + too_many * u64::from(2 + pass));
    price.min(MOST_COST) as u32
}
