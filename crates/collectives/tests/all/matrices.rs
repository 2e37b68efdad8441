//! Unequal All-to-All: every byte is sent once, in partial permutations, in the least transmission time.

use crate::oracle;

use lightloom_collectives::direct_from_matrix;
use proptest::prelude::*;

fn any_matrix() -> impl Strategy<Value = Vec<Vec<f64>>> {
    let entry = prop_oneof![
        3 => Just(0.0),
        2 => (1u32..5).prop_map(f64::from),
        4 => 0.0f64..1e9,
        1 => 1e-6f64..1e-3,
        1 => 1e12f64..1e15,
    ];
    (2usize..9).prop_flat_map(move |n| prop::collection::vec(prop::collection::vec(entry.clone(), n), n))
}

proptest! {
    #[test]
    fn every_byte_is_sent_once(matrix in any_matrix()) {
        let n = matrix.len();
        let Ok((schedule, m)) = direct_from_matrix(&matrix) else {
            let bytes = |src: usize, dst: usize| matrix[src][dst];
            let off = (0..n).flat_map(|s| (0..n).map(move |d| (s, d))).filter(|(s, d)| s != d);
            let total: f64 = off.map(|(s, d)| bytes(s, d)).sum();
            prop_assert!(total == 0.0 || matrix.iter().flatten().sum::<f64>() < n as f64, "refused for no reason");
            return Ok(());
        };
        prop_assert_eq!(oracle::execute(&schedule), Ok(()));
        prop_assert!(schedule.steps().len() <= n * n - 2 * n + 2);

        let chunks = schedule.chunks();
        let mut sent = vec![vec![0.0; n]; n];
        let mut used = vec![0; chunks.count() as usize];
        for step in schedule.steps() {
            prop_assert!(step.traffic().degree() == 1);
            for transfer in step.expanded(chunks) {
                for &chunk in &transfer.chunks {
                    sent[transfer.src as usize][transfer.dst as usize] += chunks.share(chunk) * m;
                    used[chunk as usize] += 1;
                }
            }
        }
        let idle = used.iter().filter(|&&count| count == 0).count();
        let local = (0..n).filter(|&rank| matrix[rank][rank] > 0.0).count();
        prop_assert!(used.iter().all(|&count| count <= 1));
        prop_assert_eq!(idle, local);
        for src in 0..n {
            for dst in (0..n).filter(|&dst| dst != src) {
                let (found, expected) = (sent[src][dst], matrix[src][dst]);
                prop_assert!((found - expected).abs() <= 1e-9 * expected + 1e-24 * m, "{} for {}", found, expected);
            }
        }

        // The buffer is the busiest rank's, and steps come largest first within it.
        let rows = (0..n).map(|src| matrix[src].iter().sum::<f64>());
        let columns = (0..n).map(|dst| matrix.iter().map(|row| row[dst]).sum::<f64>());
        prop_assert_eq!(m, rows.chain(columns).fold(0.0, f64::max));
        let shares: Vec<f64> = schedule.steps().iter().map(|step| step.share()).collect();
        prop_assert!(shares.windows(2).all(|pair| pair[0] >= pair[1]));
        prop_assert!(shares.iter().sum::<f64>() <= 1.0 + 1e-9);
    }

    /// A matrix that is a sum of matchings with distinct powers of two, disjoint, needs no more than these.
    #[test]
    fn disjoint_matchings_are_found_again(n in 3u32..12, count in 1u32..5) {
        let count = count.min(n - 1);
        let mut matrix = vec![vec![0.0; n as usize]; n as usize];
        for k in 0..count {
            for src in 0..n {
                matrix[src as usize][((src + k + 1) % n) as usize] = 2f64.powi(10 - k as i32);
            }
        }
        let (schedule, _) = direct_from_matrix(&matrix).unwrap();
        let total: f64 = (0..count).map(|k| 2f64.powi(10 - k as i32)).sum();
        let shares: Vec<f64> = schedule.steps().iter().map(|step| step.share() * total).collect();
        let expected: Vec<f64> = (0..count).map(|k| 2f64.powi(10 - k as i32)).collect();
        prop_assert_eq!(shares.len(), expected.len());
        prop_assert!(shares.iter().zip(&expected).all(|(a, b)| (a - b).abs() <= 1e-9 * b));
    }
}
