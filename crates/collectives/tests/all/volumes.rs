//! Bytes and steps against closed forms from the literature.

use lightloom_collectives::{Options, find};
use model::{Collective, Schedule, Shape};
use proptest::prelude::*;

fn build(name: &str, collective: Collective, n: u32, dims: &[u32], radix: u32) -> Schedule {
    let shape = Shape::new(n, dims, 1).unwrap();
    find(name).unwrap().build(collective, &shape, &Options { radix: Some(radix), ..Options::default() }).unwrap()
}

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-12 * expected
}

/// (n−1)/n, the least that a rank must send in a ReduceScatter or AllGather, and twice that in an AllReduce.
fn is_least(name: &str, n: u32, dims: &[u32], radix: u32) {
    let least = f64::from(n - 1) / f64::from(n);
    for collective in [Collective::ReduceScatter, Collective::AllGather, Collective::AllReduce] {
        let expected = if collective == Collective::AllReduce { 2.0 * least } else { least };
        let schedule = build(name, collective, n, dims, radix);
        // Several transfers of a step have shares of their own, so they are counted chunk by chunk.
        let sent: f64 = per_rank(&schedule).into_iter().fold(0.0, f64::max);
        assert!(close(sent, expected), "{name} {collective:?} {n}: {sent}");
        assert!(close(schedule.sent_share(), expected), "{name} {collective:?} {n}: {}", schedule.sent_share());
    }
}

/// Bytes that each rank sends over m.
fn per_rank(schedule: &Schedule) -> Vec<f64> {
    let chunks = schedule.chunks();
    let mut sent = vec![0.0; schedule.ranks() as usize];
    for transfer in schedule.steps().iter().flat_map(|step| step.expanded(chunks)) {
        sent[transfer.src as usize] += transfer.chunks.iter().map(|&chunk| chunks.share(chunk)).sum::<f64>();
    }
    sent
}

#[test]
fn reduce_scatter_and_all_gather_send_no_more_than_they_must() {
    for n in 2..=64 {
        is_least("ring", n, &[], 2);
        is_least("one-step", n, &[], 2);
        for radix in 2..=5 {
            for name in ["bruck", "bruck-doubling", "bruck-mirrored"] {
                is_least(name, n, &[], radix);
            }
        }
    }
    for n in [2, 4, 8, 16, 32, 64, 128] {
        for name in ["recursive-doubling", "halving-doubling", "swing", "swing-mirrored", "bine-butterfly"] {
            is_least(name, n, &[], 2);
        }
    }
    for dims in [vec![8, 8], vec![2, 16], vec![4, 4, 4], vec![2, 8, 4]] {
        is_least("swing", dims.iter().product(), &dims, 2);
    }
    for dims in [vec![3, 5], vec![8, 8], vec![2, 3, 4]] {
        is_least("bucket", dims.iter().product(), &dims, 2);
        is_least("bruck-torus", dims.iter().product(), &dims, 2);
        is_least("bruck-torus", dims.iter().product(), &dims, 3);
    }
}

#[test]
fn all_to_all_sends_each_block_once_or_once_per_bit() {
    for n in [2u32, 4, 8, 16, 32, 64] {
        for name in ["direct", "pairwise-xor"] {
            let sent = build(name, Collective::AllToAll, n, &[], 2).sent_share();
            assert!(close(sent, f64::from(n - 1) / f64::from(n)), "{name} {n}: {sent}");
        }
        // PCCL §5 and BRIDGE §3.3: log2 n exchanges of m/2.
        for name in ["dex", "bruck"] {
            let sent = build(name, Collective::AllToAll, n, &[], 2);
            assert_eq!(sent.sent_share(), f64::from(n.ilog2()) / 2.0, "{name} {n}");
            assert!(sent.steps().iter().all(|step| step.share() == 0.5));
        }
    }
}

#[test]
fn broadcasts_send_the_buffer_or_its_parts() {
    for n in 2..=64u32 {
        let depth = f64::from(n.next_power_of_two().ilog2());
        assert_eq!(build("binomial-tree", Collective::Broadcast, n, &[], 2).sent_share(), depth);
        let split = per_rank(&build("scatter-allgather", Collective::Broadcast, n, &[], 2));
        // The root gives away every other part, then passes n−1 parts round the ring.
        assert!(close(split[0], 2.0 * f64::from(n - 1) / f64::from(n)), "{n}: {}", split[0]);
    }
}

/// Each share crosses a link per level of its rank: by bits of the relative rank, and straight in one step.
#[test]
fn shares_are_sent_once_for_each_edge_on_their_way() {
    for n in 2..=64u32 {
        let bits: u32 = (1..n).map(u32::count_ones).sum();
        for collective in [Collective::Gather, Collective::Scatter] {
            let total = |name| per_rank(&build(name, collective, n, &[], 2)).into_iter().sum::<f64>() * f64::from(n);
            assert!(close(total("binomial-tree"), f64::from(bits)), "{collective:?} {n}");
            assert!(close(total("one-step"), f64::from(n - 1)), "{collective:?} {n}");
        }
        // The root of a Scatter sends every other share once, whatever the tree.
        for name in ["one-step", "binomial-tree", "binary-tree"] {
            let scattered = per_rank(&build(name, Collective::Scatter, n, &[], 2));
            assert!(close(scattered[0], f64::from(n - 1) / f64::from(n)), "{name} {n}: {}", scattered[0]);
        }
        // A sum needs the buffer of each other rank once; the ring of a scatter–all-gather sends parts of it.
        for name in ["one-step", "binomial-tree", "binary-tree", "scatter-allgather"] {
            let reduced: f64 = per_rank(&build(name, Collective::Reduce, n, &[], 2)).into_iter().sum();
            assert!(close(reduced, f64::from(n - 1)), "{name} {n}: {reduced}");
        }
    }
}

proptest! {
    /// Bruck et al. 1997: ⌈log_r n⌉ steps, at most r−1 partners in each.
    #[test]
    fn bruck_takes_the_fewest_steps_that_its_ports_allow(n in 2u32..2000, radix in 2u32..9) {
        for collective in [Collective::AllGather, Collective::AllToAll] {
            let schedule = build("bruck", collective, n, &[], radix);
            let steps = schedule.steps().len() as u32;
            prop_assert!(u64::from(radix).pow(steps) >= u64::from(n));
            prop_assert!(u64::from(radix).pow(steps - 1) < u64::from(n));
            prop_assert!(schedule.steps().iter().all(|step| step.traffic().degree() < radix));
        }
    }

    /// A block whose shift has the non-zero digits z_k in radix r moves once per such digit.
    #[test]
    fn bruck_index_moves_a_block_once_per_non_zero_digit(n in 2u32..200, radix in 2u32..6) {
        let schedule = build("bruck", Collective::AllToAll, n, &[], radix);
        let moves = |mut offset: u32| {
            let mut count = 0;
            while offset > 0 {
                count += u32::from(!offset.is_multiple_of(radix));
                offset /= radix;
            }
            count
        };
        let expected = f64::from((0..n).map(moves).sum::<u32>()) / f64::from(n);
        prop_assert!(close(per_rank(&schedule)[0], expected));
    }
}
