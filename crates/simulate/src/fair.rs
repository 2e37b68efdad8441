//! Max-min fair rates: nobody can get more without taking from somebody who has no more (Bertsekas and
//! Gallager, Data Networks, §6.5.2: progressive filling).

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
    // What is left of each server, and for how many flows whose rate is not yet known.
    let mut left: Vec<(f64, usize)> = crossing.iter().map(|flows| (1.0, flows.len())).collect();
    let share = |(rate, flows): (f64, usize)| (rate.max(0.0) / flows as f64).to_bits();
    let mut tightest: BinaryHeap<Share> = BinaryHeap::new();
    for (server, &state) in left.iter().enumerate().filter(|(_, state)| state.1 > 0) {
        tightest.push(Reverse((share(state), server as u32)));
    }
    let mut rates = vec![None; active.len()];
    while let Some(Reverse((known, server))) = tightest.pop() {
        let state = left[server as usize];
        if state.1 == 0 {
            continue;
        }
        // Shares only grow while others are filled: one that has grown goes back in line.
        if share(state) > known {
            tightest.push(Reverse((share(state), server)));
            continue;
        }
        let rate = f64::from_bits(share(state));
        for &place in &crossing[server as usize] {
            if rates[place].is_some() {
                continue;
            }
            rates[place] = Some(rate);
            for crossed in servers_of(active[place]) {
                left[crossed].0 -= rate;
                left[crossed].1 -= 1;
            }
        }
    }
    rates.into_iter().map(|rate| rate.unwrap_or(1.0)).collect()
}
