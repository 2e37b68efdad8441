//! Least link usage of bringing a block from one rank to N more, in s steps on one topology of degree d.
//!
//! Who informs whom makes a tree; each informed rank costs the length of its path. Naming the circuits out of a rank
//! 0 … d−1, a path is a word, and different ranks have different words, so all of this happens on the infinite d-ary
//! tree at best.
//!
//! - d = 1, the line, exactly: the last target p of the first step costs p, what lies beyond it is informed from it in
//!   s−1 steps, and what lies before it in the same way, so with F(s, x) the cost of x ranks in a row of which the
//!   first is the source, F(s, x) = min over p of F(s−1, x−p) + [F(s, p) + p]. This is an infimal convolution, which
//!   merges slopes: if F(s−1, ·) has slope c for C(s+c−2, c) ranks and F(s, ·) for C(s+c−1, c), the bracket has it for
//!   C(s+c−2, c−1), and Pascal's rule closes the induction. So C(s+c−1, c) ranks cost c each.
//! - d ≥ 2, from below: a rank has d^j others at distance j below it, and each is informed once. With λ paid for each
//!   informed rank, a rank that has t steps left is worth at most V_t = λ + Σ_j d^j·max(0, V_{t−1} − j), so
//!   f(s, N) ≥ λ·(1+N) − V_s(λ) for every λ.
//!
//! Both are convex in N, so the mean over sources of what they inform may stand for each (Jensen).

/// Lower bounds on f(s, N) for ascending `added` = N ≥ 0, which need not be whole. O(levels + |added|).
pub(crate) fn least_usage(ports: u32, steps: u32, added: &[f64]) -> Vec<f64> {
    if ports == 1 { on_a_line(steps, added) } else { on_a_tree(f64::from(ports), steps, added) }
}

/// Steps after which more steps save nothing: all can be informed over one hop each.
pub(crate) fn most_steps(ports: u32, ranks: u32) -> u32 {
    least_hops(ports, f64::from(ranks)).max(1)
}

/// Least h with 1 + d + … + d^h ≥ `ranks`: hops that multiply the informed ranks by this many.
pub(crate) fn least_hops(ports: u32, ranks: f64) -> u32 {
    // A ball counts as large enough if it is so up to rounding.
    let enough = ranks * (1.0 - 1e-9);
    if ports == 1 {
        return (enough - 1.0).max(0.0).ceil() as u32;
    }
    let (mut hops, mut layer, mut ball) = (0, 1.0, 1.0);
    while ball < enough {
        layer *= f64::from(ports);
        ball += layer;
        hops += 1;
    }
    hops
}

/// 1 + d + … + d^h: ranks within this many hops.
pub(crate) fn ball(ports: u32, hops: u32) -> f64 {
    if ports == 1 {
        return f64::from(hops) + 1.0;
    }
    (0..=hops).rev().fold(0.0, |inner, _| inner * f64::from(ports) + 1.0)
}

fn on_a_line(steps: u32, added: &[f64]) -> Vec<f64> {
    let steps = f64::from(steps);
    // Ranks that cost less than `cost` each, what they cost together, and how many cost `cost`.
    let (mut cost, mut below, mut spent, mut level) = (1.0, 0.0, 0.0, steps);
    let usage = |&ranks: &f64| {
        while ranks > below + level {
            below += level;
            spent += cost * level;
            level *= (steps + cost) / (cost + 1.0);
            cost += 1.0;
        }
        spent + cost * (ranks - below)
    };
    added.iter().map(usage).collect()
}

fn on_a_tree(ports: f64, steps: u32, added: &[f64]) -> Vec<f64> {
    let most = 1.0 + added.last().copied().unwrap_or(0.0);
    let lines: Vec<(f64, f64)> =
        prices(ports, steps, most).into_iter().map(|price| (price, worth(ports, steps, price))).collect();
    let mut best = 0;
    let usage = |&ranks: &f64| {
        let value = |line: usize| lines[line].0 * (1.0 + ranks) - lines[line].1;
        while best + 1 < lines.len() && value(best + 1) >= value(best) {
            best += 1;
        }
        // One hop at least for every rank.
        value(best).max(ranks)
    };
    added.iter().map(usage).collect()
}

/// V_steps(λ).
fn worth(ports: f64, steps: u32, price: f64) -> f64 {
    (0..steps).fold(price, |worth, _| price + gains(ports, worth))
}

/// Σ_j d^j·max(0, worth − j).
fn gains(ports: f64, worth: f64) -> f64 {
    let (mut sum, mut layer, mut distance) = (0.0, ports, 1.0);
    while distance < worth {
        if distance > 64.0 {
            return f64::INFINITY;
        }
        sum += layer * (worth - distance);
        layer *= ports;
        distance += 1.0;
    }
    sum
}

/// The prices, below `most`, at which the slope of V_s changes: the bounds at these are corners of the hull.
fn prices(ports: f64, steps: u32, most: f64) -> Vec<f64> {
    let mut price = 1.0;
    let mut all = vec![price];
    loop {
        let (mut value, mut slope, mut next): (f64, f64, f64) = (price, 1.0, f64::INFINITY);
        for _ in 0..steps {
            let distance = (value + 1e-9).floor();
            next = next.min((distance + 1.0 - value) / slope);
            let layers = (ports.powf(distance + 1.0) - ports) / (ports - 1.0);
            value = price + gains(ports, value);
            slope = 1.0 + slope * layers;
            if slope > most {
                break;
            }
        }
        if slope > most {
            return all;
        }
        price += next;
        all.push(price);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Least costs of informing 0, 1, 2, … more ranks in 1, 2, 3, … steps, over all orders on the first ranks of a
    /// d-ary tree, layer by layer; rank 0 is the root.
    fn by_exhaustion(ports: usize, ranks: usize, steps: usize) -> Vec<Vec<u32>> {
        let parent: Vec<usize> = (0..ranks).map(|rank: usize| rank.saturating_sub(1) / ports).collect();
        let mut least = vec![u32::MAX; 1 << ranks];
        least[1] = 0;
        let mut all = Vec::new();
        for _ in 0..steps {
            let before = least.clone();
            for (held, &spent) in before.iter().enumerate().filter(|(_, spent)| **spent < u32::MAX) {
                let distance = |rank: usize| {
                    let (mut at, mut hops) = (rank, 0);
                    while held >> at & 1 == 0 {
                        (at, hops) = (parent[at], hops + 1);
                    }
                    hops
                };
                let distances: Vec<u32> = (0..ranks).map(distance).collect();
                let left = !held & ((1 << ranks) - 1);
                let mut chosen = left;
                while chosen > 0 {
                    let cost: u32 = (0..ranks).filter(|rank| chosen >> rank & 1 == 1).map(|rank| distances[rank]).sum();
                    least[held | chosen] = least[held | chosen].min(spent + cost);
                    chosen = (chosen - 1) & left;
                }
            }
            let mut by_count = vec![u32::MAX; ranks];
            for (held, &cost) in least.iter().enumerate().filter(|(held, _)| held & 1 == 1) {
                let added = held.count_ones() as usize - 1;
                by_count[added] = by_count[added].min(cost);
            }
            all.push(by_count);
        }
        all
    }

    #[test]
    fn on_a_line_it_is_the_least_of_all_orders() {
        for (steps, least) in (1..).zip(by_exhaustion(1, 10, 5)) {
            let added: Vec<f64> = (0..10).map(f64::from).collect();
            let least: Vec<f64> = least.into_iter().map(f64::from).collect();
            assert_eq!(least_usage(1, steps, &added), least, "{steps} steps");
        }
    }

    #[test]
    fn on_a_line_it_solves_the_recurrence() {
        let most = 120;
        let mut before: Vec<f64> = (0..=most).map(|n| f64::from(n * (n + 1) / 2)).collect();
        for steps in 2..9 {
            let mut now = vec![0.0];
            for ranks in 1..=most as usize {
                let targets = 1..=ranks;
                let least = targets.map(|p| p as f64 + before[ranks - p] + now[p - 1]).fold(before[ranks], f64::min);
                now.push(least);
            }
            let added: Vec<f64> = (0..=most).map(f64::from).collect();
            assert_eq!(least_usage(1, steps, &added), now, "{steps} steps");
            before = now;
        }
    }

    #[test]
    fn on_a_tree_it_is_below_all_orders() {
        for ports in 2..5 {
            for (steps, least) in (1..).zip(by_exhaustion(ports, 12, 3)) {
                let added: Vec<f64> = (0..12).map(f64::from).collect();
                let bounds = least_usage(ports as u32, steps, &added);
                for (bound, least) in bounds.into_iter().zip(least) {
                    assert!(bound <= f64::from(least) + 1e-9, "{ports} ports, {steps} steps: {bound} {least}");
                }
            }
        }
    }

    #[test]
    fn one_step_is_moore_and_many_steps_are_one_hop_each() {
        let added: Vec<f64> = (0..40).map(f64::from).collect();
        for ports in 1..5 {
            let (one, many) = (least_usage(ports, 1, &added), least_usage(ports, 60, &added));
            let (mut distance, mut places, mut left, mut cost) = (1, ports, ports, 0);
            for ranks in 0..40 {
                assert!((one[ranks] - f64::from(cost)).abs() < 1e-9, "{ports} ports, {ranks} ranks");
                assert!((many[ranks] - ranks as f64).abs() < 1e-9, "{ports} ports, {ranks} ranks");
                if left == 0 {
                    (distance, places) = (distance + 1, places * ports);
                    left = places;
                }
                left -= 1;
                cost += distance;
            }
        }
    }

    #[test]
    fn hops_fill_balls() {
        assert_eq!([1.0, 2.0, 2.5, 8.0].map(|ranks| least_hops(1, ranks)), [0, 1, 2, 7]);
        assert_eq!([1.0, 3.0, 3.1, 7.0, 8.0].map(|ranks| least_hops(2, ranks)), [0, 1, 2, 2, 3]);
    }
}
