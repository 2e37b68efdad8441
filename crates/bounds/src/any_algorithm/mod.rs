//! Lower bounds that hold for any algorithm of a collective, on any topologies of degree d, reconfigured at any time.
//!
//! One file per family of collectives. All of them count what every step-synchronous schedule must do: start, reach all
//! ranks over hops, put bytes on n·d links, and change topologies.

mod all_gather;
mod all_reduce;
mod all_reduce_parts;
mod all_to_all;
mod broadcast;
mod departures;
mod faults;
mod gather;
mod islands;
mod one_step;
mod pair_rates;
mod passes;
mod start;
mod start_unequal;
mod tiers;

use model::{Collective, CostSettings, Fabric, Initial, OpticalLayer, Piece};

use crate::mixed_rates;
use crate::rates::Rates;
use crate::repetition::repeated;
use crate::statement::{Statement, largest};

/// The largest bound that holds for every algorithm of `collective` with buffers of `size_bytes`; `pieces` are those
/// of an unequal All-to-All. A millisecond or two at 64 ranks, ten at 1024.
pub fn any_algorithm(
    collective: Collective,
    pieces: Option<&[Piece]>,
    fabric: &Fabric,
    settings: CostSettings,
    size_bytes: u64,
) -> Statement {
    let of = |part| mixed_rates::larger(fabric, |alike| on_alike_ports(part, pieces, alike, settings, size_bytes));
    let own = of(collective);
    if collective != Collective::AllReduce {
        return own;
    }
    let parts = all_reduce_parts::worth_a_look(fabric, settings, size_bytes, own.seconds());
    let of_parts = parts.iter().map(|&part| {
        let bound = of(part);
        Statement { class: bound.class.replacen(part.name(), collective.name(), 1), ..bound }
    });
    largest(std::iter::once(own).chain(of_parts)).expect("there is the first")
}

/// The bound where every port has the fabric's rate.
fn on_alike_ports(
    collective: Collective,
    pieces: Option<&[Piece]>,
    fabric: &Fabric,
    settings: CostSettings,
    size_bytes: u64,
) -> Statement {
    let rates = Rates::new(fabric, settings);
    if let Some(electrical) = &fabric.electrical {
        return tiers::bound(electrical, collective, pieces, &rates, size_bytes as f64, from_anywhere);
    }
    let buffer_s = rates.byte_s * size_bytes as f64;
    let from_anywhere_on_fabric = |rates: &Rates| {
        let free = from_anywhere(collective, pieces, rates, buffer_s);
        let of_islands = fabric.optics.as_ref().and_then(OpticalLayer::islands).and_then(|shared| {
            let latency = from_anywhere(collective, pieces, rates, 0.0);
            islands::bound(shared, collective, pieces, rates, buffer_s, latency)
        });
        let of_ports = faults::bound(&fabric.shape, collective, pieces, rates, buffer_s);
        let of_pairs = fabric.shape.pairs().map(|pairs| pair_rates::bound(pairs, collective, pieces, rates, buffer_s));
        largest(std::iter::once(free).chain(of_islands).chain(of_ports).chain(of_pairs)).expect("there is the first")
    };
    if fabric.initial == Initial::Repeated {
        return repeated(&rates, from_anywhere_on_fabric);
    }
    let free = from_anywhere_on_fabric(&rates);
    match &fabric.initial {
        Initial::Topology(topology) if rates.first_changes == 0 && rates.change_s > 0.0 => {
            let changed = from_anywhere(collective, pieces, &Rates { least_changes: 1, ..rates }, buffer_s);
            let stayed = match pieces {
                Some(pieces) => start_unequal::stays_unequal(pieces, topology, &rates, buffer_s),
                None if collective.has_root() => start::stays_rooted(collective, topology, &rates, buffer_s),
                None if collective == Collective::AllToAll && start_unequal::is_priced(topology) => {
                    let pieces = start_unequal::equal_blocks(rates.ranks);
                    start_unequal::stays_unequal(&pieces, topology, &rates, buffer_s)
                }
                None => start::stays(collective, topology, &rates, buffer_s),
            };
            let least = stayed.into_iter().chain([changed]).min_by(|a, b| a.seconds().total_cmp(&b.seconds()));
            largest(std::iter::once(free).chain(least)).expect("there is the first")
        }
        _ => free,
    }
}

/// The bound where the topology at the start, but for a dark one, makes no difference.
fn from_anywhere(collective: Collective, pieces: Option<&[Piece]>, rates: &Rates, buffer_s: f64) -> Statement {
    match collective {
        Collective::AllGather | Collective::ReduceScatter => all_gather::bound(collective, rates, buffer_s),
        Collective::AllReduce => all_reduce::bound(rates, buffer_s),
        Collective::AllToAll => all_to_all::bound(pieces, rates, buffer_s),
        Collective::Broadcast | Collective::Reduce => broadcast::bound(collective, rates, buffer_s),
        Collective::Gather | Collective::Scatter => gather::bound(collective, rates, buffer_s),
    }
}
