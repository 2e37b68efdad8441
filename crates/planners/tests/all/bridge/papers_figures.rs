//! The numbers that the paper reports.

use lightloom_planners::{Bridge, find};
use model::{Collective, Initial};

use super::setting::{ALPHA_S, BYTE_S, DELTA_S, Setting, bridge, near, paper, problem, ring, vector};

#[test]
fn table_1_comes_out() {
    let rows = [
        ("bruck", Collective::AllToAll, ["000000", "000100", "001010"]),
        ("bruck-doubling", Collective::ReduceScatter, ["000000", "001000", "010100"]),
        ("bruck-doubling", Collective::AllGather, ["000000", "000010", "000101"]),
    ];
    for (algorithm, collective, expected) in rows {
        // The table's ReduceScatter and AllGather are the optima of transmission only.
        let problem = problem(Setting { hop_s: 0.0, ..paper(algorithm, collective) }, Initial::Free);
        for (reconfigurations, expected) in expected.into_iter().enumerate() {
            let choice = Bridge::EVERY_GPU.choose_with(&problem, reconfigurations).unwrap().unwrap();
            assert_eq!(vector(choice), expected, "{collective:?}, R = {reconfigurations}");
        }
        assert!(Bridge::EVERY_GPU.choose_with(&problem, 6).unwrap().is_none());
    }
    // The latency's optimum is periodic for all three (§3.3, §3.4).
    for (algorithm, collective, _) in rows {
        let problem = problem(Setting { size_bytes: 1, ..paper(algorithm, collective) }, Initial::Free);
        let choice = Bridge::EVERY_GPU.choose_with(&problem, 2).unwrap().unwrap();
        assert_eq!(vector(choice), "001010", "{collective:?}");
    }
}

/// Theorem 3.2 without its assumption: R + 1 segments, of lengths that differ by at most one.
#[test]
fn all_to_all_has_the_closed_form_for_every_number_of_reconfigurations() {
    for log_ranks in 1..=10u32 {
        for size_bytes in [0, 1 << 10, 1 << 24] {
            for initial in [Initial::Free, Initial::Topology(ring(1 << log_ranks))] {
                let setting = Setting { gpus: 1 << log_ranks, size_bytes, ..paper("bruck", Collective::AllToAll) };
                let problem = problem(setting, initial);
                for reconfigurations in 0..log_ranks {
                    let segments = reconfigurations + 1;
                    let powers: u32 = (0..segments)
                        .map(|j| (1 << (log_ranks / segments + u32::from(j < log_ranks % segments))) - 1)
                        .sum();
                    let c = DELTA_S + BYTE_S * size_bytes as f64 / 2.0;
                    let expected = f64::from(log_ranks) * ALPHA_S
                        + c * f64::from(powers)
                        + f64::from(reconfigurations) * setting.delay_s;
                    let choice = Bridge::EVERY_GPU.choose_with(&problem, reconfigurations as usize).unwrap().unwrap();
                    assert!(near(choice.total_s, expected), "{setting:?} R = {reconfigurations}");
                    assert_eq!(choice.reconfigurations(), reconfigurations as usize);
                }
            }
        }
    }
}

/// Time of a registered planner, from the ring.
fn time_of(planner: &str, setting: Setting) -> f64 {
    find(planner).unwrap().choose(&problem(setting, Initial::Topology(ring(setting.gpus)))).unwrap().total_s
}

/// Halving/doubling on the ring until it is reconfigured at every step (R-HD), at the best of those steps.
fn reconfigured_halving_doubling(setting: Setting) -> f64 {
    let s = setting.gpus.ilog2();
    let buffer_s = BYTE_S * setting.size_bytes as f64;
    let times = (0..=s).map(|threshold| {
        let of_step = |k: u32| {
            let stays = k < threshold;
            let hops = if stays { f64::from(1u32 << k) } else { 1.0 };
            let transmission_s = buffer_s * hops / f64::from(2u32 << k);
            ALPHA_S + DELTA_S * hops + transmission_s + if stays || k == 0 { 0.0 } else { setting.delay_s }
        };
        (0..s).map(of_step).sum()
    });
    times.fold(f64::INFINITY, f64::min)
}

/// REFERENCE, fig. 9–12: 5.0× over Ring and 1.4× over R-HD in the paper, 4.97 and 1.38 in the model, within 0.01.
#[test]
fn reduce_scatter_of_1_kib_on_64_gpus() {
    let setting = paper("bruck-doubling", Collective::ReduceScatter);
    let ours_s = time_of("bridge", setting);
    let ring_s = time_of("static", Setting { algorithm: "ring", ..setting });
    assert!((ring_s / ours_s - 4.97).abs() < 0.01, "{}", ring_s / ours_s);
    let r_hd_s = reconfigured_halving_doubling(setting);
    assert!((r_hd_s / ours_s - 1.38).abs() < 0.01, "{}", r_hd_s / ours_s);
    // One reconfiguration, balanced: latency counts.
    let choice = bridge().choose(&problem(setting, Initial::Topology(ring(64)))).unwrap();
    assert_eq!(vector(choice), "000100");
}

/// REFERENCE, fig. 9 and 10: from 0.15 ms and 16 MB on Ring is better, 335 µs against 430 µs; fig. 12: at 10 µs
/// BRIDGE is ahead up to 64 MB.
#[test]
fn ring_wins_where_buffers_are_large_and_changes_slow() {
    let setting =
        |size_bytes, delay_s| Setting { size_bytes, delay_s, ..paper("bruck-doubling", Collective::ReduceScatter) };
    let ring_s = |setting| time_of("static", Setting { algorithm: "ring", ..setting });
    let slow = setting(16 << 20, 150e-6);
    let (ours_s, theirs_s) = (time_of("bridge", slow), ring_s(slow));
    assert!((ours_s - 430e-6).abs() < 1e-6 && (theirs_s - 335e-6).abs() < 1e-6, "{ours_s} {theirs_s}");
    for log_size in 10..=26 {
        let fast = setting(1 << log_size, 10e-6);
        assert!(time_of("bridge", fast) < ring_s(fast), "2^{log_size}");
    }
}

/// REFERENCE, fig. 5: 10.4× over S-Bruck in the paper, 10.5 in the model; fig. 8: at 10 µs G-Bruck is equal from
/// 16 MB on, and below 4 MB BRIDGE is up to 2.1× ahead of both.
#[test]
fn all_to_all_on_64_gpus() {
    let setting = |size_bytes, delay_s| Setting { size_bytes, delay_s, ..paper("bruck", Collective::AllToAll) };
    let largest = setting(256 << 20, 1e-6);
    let speed_up = time_of("static", largest) / time_of("bridge", largest);
    assert!((speed_up - 10.5).abs() < 0.05, "{speed_up}");
    for log_size in 24..=28 {
        let fast = setting(1 << log_size, 10e-6);
        assert!(near(time_of("bvn", fast), time_of("bridge", fast)), "2^{log_size}");
    }
    let over_both = |setting| time_of("static", setting).min(time_of("bvn", setting)) / time_of("bridge", setting);
    let best = (10..=22).map(|log_size| over_both(setting(1 << log_size, 10e-6))).fold(0.0, f64::max);
    assert!((1.9..=2.1).contains(&best), "{best}");
    // Fig. 5b: 2.1× over both at 128 MB and 5 ms.
    let slow = over_both(setting(128_000_000, 5e-3));
    assert!((slow - 2.1).abs() < 0.1, "{slow}");
}

/// §5: latency-optimal AllReduce has All-to-All's closed form with the whole buffer in every step.
#[test]
fn latency_optimal_all_reduce_is_periodic() {
    let setting = Setting { size_bytes: 1 << 16, ..paper("dissemination", Collective::AllReduce) };
    let problem = problem(setting, Initial::Free);
    let c = DELTA_S + BYTE_S * setting.size_bytes as f64;
    for (changes, powers, expected) in [(1, 14.0, "000100"), (2, 9.0, "001010")] {
        let choice = Bridge::EVERY_GPU.choose_with(&problem, changes).unwrap().unwrap();
        assert!(near(choice.total_s, 6.0 * ALPHA_S + c * powers + changes as f64 * setting.delay_s));
        assert_eq!(vector(choice), expected);
    }
}
