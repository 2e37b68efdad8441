//! Max-min fair rates: no flow can get more without taking from one that has no more (Bertsekas and
//! Gallager, Data Networks, §6.5.2: progressive filling).
//!
//! Fairness is among transfers, not paths: the parts of a transfer by shares and by parallel circuits get shares of the
//! rate of one. A transfer that is cut into more parts over the same circuits gains nothing by it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::network::QueueingNetwork;

/// Order of shares; they are positive and finite, so that their bits are in order.
type Share = Reverse<(u64, u32)>;

/// Rate of each flow of `active` over the rate of a server; a flow that crosses a server twice takes it twice.
/// O(crossings · log servers).
pub(crate) fn rates(network: &QueueingNetwork, active: &[u32]) -> Vec<f64> {
    let servers_of = |flow: u32| {
        let streams = network.flows[flow as usize].streams.clone();
        network.streams[streams].iter().map(|stream| stream.server as usize)
    };
    let mut crossing = vec![Vec::new(); network.servers];
    for (place, &flow) in active.iter().enumerate() {
        servers_of(flow).for_each(|server| crossing[server].push(place));
    }
    let part = |place: usize| network.flows[active[place] as usize].part;
    // The rate that is left of each server, and for which parts and how many flows whose rates are not yet known.
    let of_server = |flows: &Vec<usize>| (1.0, flows.iter().map(|&place| part(place)).sum(), flows.len());
    let mut left: Vec<(f64, f64, usize)> = crossing.iter().map(of_server).collect();
    let least: Vec<f64> =
        crossing.iter().map(|flows| flows.iter().map(|&place| part(place)).fold(1.0, f64::min)).collect();
    let share = |(rate, parts, _): (f64, f64, usize)| (rate.max(0.0) / parts).to_bits();
    let mut tightest: BinaryHeap<Share> = BinaryHeap::new();
    for (server, &state) in left.iter().enumerate().filter(|(_, state)| state.2 > 0) {
        tightest.push(Reverse((share(state), server as u32)));
    }
    let mut rates = vec![None; active.len()];
    while let Some(Reverse((known, server))) = tightest.pop() {
        interruption::check();
        let state = left[server as usize];
        if state.2 == 0 {
            continue;
        }
        // A server's share can only grow while others are filled; if it has grown, the server goes back into the queue.
        if share(state) > known {
            tightest.push(Reverse((share(state), server)));
            continue;
        }
        let level = f64::from_bits(share(state));
        for &place in &crossing[server as usize] {
            if rates[place].is_some() {
                continue;
            }
            let rate = level * part(place);
            rates[place] = Some(rate);
            for crossed in servers_of(active[place]) {
                let (free, parts, flows) = left[crossed];
                // The parts, after rounding, are no less than those of the flows that are left.
                let parts = (parts - part(place)).max((flows - 1) as f64 * least[crossed]);
                left[crossed] = (free - rate, parts, flows - 1);
            }
        }
    }
    rates.into_iter().map(|rate| rate.unwrap_or(1.0)).collect()
}
