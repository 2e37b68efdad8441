//! Every algorithm computes its collectives on every shape that it accepts, and counts its steps right.

use crate::oracle;

use lightloom_collectives::{Algorithm, Options, REGISTRY, find};
use model::{Collective, Schedule, Shape};

/// Runs whatever `algorithm` accepts of this shape; returns how many collectives that were.
fn run(algorithm: &dyn Algorithm, shape: &Shape, options: &Options) -> usize {
    let mut accepted = 0;
    for &collective in Collective::ALL {
        let built = algorithm.build(collective, shape, options);
        let verdict = algorithm.accepts(collective, shape, options);
        let what = format!("{} of {collective:?} on {:?} with {options:?}", algorithm.name(), shape.dims());
        assert_eq!(built.as_ref().err(), verdict.as_ref().err(), "{what}");
        if let Ok(schedule) = built {
            assert_eq!(schedule.collective(), collective, "{what}");
            assert_eq!(schedule.algorithm(), algorithm.name(), "{what}");
            assert_eq!(schedule.steps().len() as u32, algorithm.steps(collective, shape, options), "{what}");
            assert_eq!(oracle::execute(&schedule), Ok(()), "{what}");
            accepted += 1;
        }
    }
    accepted
}

fn line(n: u32) -> Shape {
    Shape::new(n, &[], 1).unwrap()
}

fn grid(dims: &[u32]) -> Shape {
    Shape::new(dims.iter().product(), dims, 1).unwrap()
}

#[test]
fn on_every_line_up_to_64_what_is_accepted_runs() {
    for algorithm in REGISTRY {
        let any = [
            "ring",
            "pat",
            "bruck",
            "bruck-doubling",
            "bruck-mirrored",
            "one-step",
            "direct",
            "binomial-tree",
            "binary-tree",
            "scatter-allgather",
        ];
        let powers = [
            "recursive-doubling",
            "halving-doubling",
            "swing",
            "bine-butterfly",
            "bine-tree",
            "swing-mirrored",
            "dissemination",
            "pairwise-xor",
            "dex",
        ];
        for n in 2..=64 {
            let accepted = run(*algorithm, &line(n), &Options::default()) > 0;
            let takes = any.contains(&algorithm.name()) || powers.contains(&algorithm.name()) && n.is_power_of_two();
            assert_eq!(accepted, takes, "{} on {n}", algorithm.name());
        }
    }
}

#[test]
fn bruck_runs_with_any_radix() {
    for (name, collectives) in [("bruck", 4), ("bruck-doubling", 3), ("bruck-mirrored", 4)] {
        let bruck = find(name).unwrap();
        for n in 2..=48 {
            for radix in (2..=5).chain([n - 1, n, n + 1, u32::MAX]).filter(|&radix| radix >= 2) {
                assert_eq!(
                    run(bruck, &line(n), &Options { radix: Some(radix), ..Options::default() }),
                    collectives,
                    "{name} {n}"
                );
            }
        }
        for radix in [0, 1] {
            let options = Options { radix: Some(radix), ..Options::default() };
            assert_eq!(bruck.build(Collective::AllReduce, &line(8), &options).unwrap_err().field(), "radix");
        }
    }
}

#[test]
#[ignore = "large: make test-large"]
fn bruck_runs_round_the_dimensions_of_any_torus_with_any_radix() {
    let torus = find("bruck-torus").unwrap();
    let mut tori = 0;
    for first in 2..=32u32 {
        for second in 2..=64 / first {
            let third = (2..=64 / first / second).map(|third| vec![first, second, third]);
            for dims in [vec![first, second]].into_iter().chain(third) {
                for radix in [2, 3, first, 65] {
                    let options = Options { radix: Some(radix), ..Options::default() };
                    assert_eq!(run(torus, &grid(&dims), &options), 4, "{dims:?} {radix}");
                }
                tori += 1;
            }
        }
    }
    // Ordered factorisations into two and three factors of at least 2, with products up to 64.
    assert_eq!(tori, 153 + 147);
    let four = Shape::new(16, &[2, 2, 2, 2], 1).unwrap();
    let refused = torus.build(Collective::AllReduce, &four, &Options::default()).unwrap_err().to_string();
    assert!(refused.contains("it takes --dims with 2 or 3 dimensions, not 2x2x2x2"), "{refused}");
}

#[test]
fn pat_runs_with_any_aggregation() {
    let pat = find("pat").unwrap();
    for n in 2..=64 {
        for log in 0..=7 {
            let options = Options { aggregation: Some(1 << log), ..Options::default() };
            assert_eq!(run(pat, &line(n), &options), 2, "{n} {log}");
        }
    }
}

#[test]
fn dissemination_runs_on_powers_of_its_radix() {
    let dissemination = find("dissemination").unwrap();
    for radix in 2..=7u32 {
        for n in 2..=128 {
            let power = (1..=7).any(|k| radix.checked_pow(k) == Some(n)) || n < radix;
            let accepted = run(dissemination, &line(n), &Options { radix: Some(radix), ..Options::default() });
            assert_eq!(accepted, usize::from(power), "{n} of radix {radix}");
        }
    }
}

#[test]
fn collectives_with_a_root_run_from_any_root_and_to_it() {
    for (name, collectives) in
        [("one-step", 4), ("binomial-tree", 4), ("binary-tree", 4), ("bine-tree", 4), ("scatter-allgather", 2)]
    {
        let algorithm = find(name).unwrap();
        for n in (2..=33).filter(|n: &u32| name != "bine-tree" || n.is_power_of_two()) {
            for root in 0..n {
                assert_eq!(run(algorithm, &line(n), &Options { root: Some(root), ..Options::default() }), collectives);
            }
            let outside = Options { root: Some(n), ..Options::default() };
            assert_eq!(algorithm.accepts(Collective::Broadcast, &line(n), &outside).unwrap_err().field(), "root");
        }
    }
}

#[test]
fn no_other_collective_has_a_root() {
    for algorithm in REGISTRY {
        for &collective in algorithm.collectives().iter().filter(|known| !known.has_root()) {
            let rooted = Options { root: Some(0), ..Options::default() };
            assert_eq!(algorithm.accepts(collective, &line(8), &rooted).unwrap_err().field(), "root");
        }
    }
}

#[test]
fn bucket_runs_on_grids_of_any_sizes() {
    let bucket = find("bucket").unwrap();
    for a in 2..=8 {
        for b in 2..=8 {
            assert_eq!(run(bucket, &grid(&[a, b]), &Options::default()), 3);
            for c in (2..=5).filter(|c| a * b * c <= 64) {
                assert_eq!(run(bucket, &grid(&[a, b, c]), &Options::default()), 3);
            }
        }
    }
    for refused in [line(8), grid(&[2, 2, 2, 2])] {
        assert_eq!(run(bucket, &refused, &Options::default()), 0);
    }
}

#[test]
fn swing_runs_on_tori_of_powers_of_two() {
    let swing = find("swing").unwrap();
    let powers = [2, 4, 8, 16];
    for a in powers {
        for b in powers {
            assert_eq!(run(swing, &grid(&[a, b]), &Options::default()), 3);
            for c in powers.into_iter().filter(|c| a * b * c <= 128) {
                assert_eq!(run(swing, &grid(&[a, b, c]), &Options::default()), 3);
            }
        }
    }
    for refused in [vec![6, 4], vec![4, 3, 2], vec![2, 2, 2, 2]] {
        assert_eq!(run(swing, &grid(&refused), &Options::default()), 0);
    }
    assert_eq!(run(find("swing-mirrored").unwrap(), &grid(&[4, 4]), &Options::default()), 0);
}

#[test]
#[ignore = "large: make test-large"]
fn larger_machines_run_too() {
    for n in [96, 127, 128] {
        for algorithm in REGISTRY {
            run(*algorithm, &line(n), &Options::default());
        }
    }
    for (name, shape) in [
        ("recursive-doubling", line(256)),
        ("halving-doubling", line(256)),
        ("swing", line(256)),
        ("swing-mirrored", line(256)),
        ("swing", grid(&[16, 16])),
        ("swing", grid(&[4, 8, 8])),
        ("bucket", grid(&[16, 16])),
        ("bucket", grid(&[5, 6, 7])),
        ("one-step", line(512)),
        ("binomial-tree", line(1000)),
        ("binary-tree", line(1024)),
    ] {
        assert!(run(find(name).unwrap(), &shape, &Options::default()) > 0, "{name}");
    }
}

#[test]
fn refusals_are_one_line_that_names_the_algorithm_and_says_what_it_takes() {
    let cases = [
        ("recursive-doubling", Collective::AllReduce, line(6), "power of two, such as 4 or 8"),
        ("dex", Collective::AllToAll, line(12), "power of two, such as 8 or 16"),
        ("bucket", Collective::AllReduce, line(8), "2 or 3 dimensions"),
        ("swing", Collective::AllReduce, grid(&[3, 4]), "powers of two, not 3x4"),
        ("direct", Collective::AllReduce, line(8), "computes all-to-all, not all-reduce"),
        ("direct", Collective::AllToAll, line(10_000), "too many blocks"),
        ("scatter-allgather", Collective::Broadcast, line(4096), "at most 2048 GPUs"),
        ("one-step", Collective::AllReduce, line(513), "at most 512 GPUs, not 513"),
    ];
    for (name, collective, shape, reason) in cases {
        let message = find(name).unwrap().build(collective, &shape, &Options::default()).unwrap_err().to_string();
        assert!(message.starts_with(&format!("algorithm: {name} refuses")), "{message}");
        assert!(message.contains(reason) && !message.contains('\n'), "{message}");
    }
}

#[test]
fn the_oracle_notices_a_step_that_is_missing_and_a_sum_that_is_added_twice() {
    for algorithm in REGISTRY {
        for shape in [line(8), grid(&[2, 4])] {
            for &collective in Collective::ALL {
                let Ok(schedule) = algorithm.build(collective, &shape, &Options::default()) else { continue };
                let chunks = schedule.chunks().clone();
                for index in 0..schedule.steps().len() {
                    let mut steps = schedule.steps().to_vec();
                    let step = steps.remove(index);
                    if let Ok(shorter) = Schedule::new("shorter", chunks.clone(), steps.clone()) {
                        let redundant = algorithm.name() == "scatter-allgather";
                        assert!(
                            redundant || oracle::execute(&shorter).is_err(),
                            "{} without {index}",
                            algorithm.name()
                        );
                    }
                    if step.transfers()[0].op == model::Op::Reduce {
                        steps.splice(index..index, [step.clone(), step]);
                        let doubled = Schedule::new("doubled", chunks.clone(), steps).unwrap();
                        assert!(oracle::execute(&doubled).is_err(), "{} with {index} twice", algorithm.name());
                    }
                }
            }
        }
    }
}
