//! Programs of random plans, executed with symbols for elements: every rank gets what the collective says, and every
//! path carries its share.

mod drawn;
mod executed;

use std::num::NonZeroU64;

use collectives::{Options, REGISTRY};
use drawn::{Drawn, pieces, planned};
use executed::{check, check_shares};
use lightloom_runtime::{Data, PlanProgram, program_of};
use model::{Collective, Plan, Shape};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn program(plan: &Plan, element_bytes: u64) -> PlanProgram {
    program_of(plan, NonZeroU64::new(element_bytes).expect("bytes"), &Data::OfPlan).expect("a program")
}

fn check_program(plan: &Plan, element_bytes: u64) {
    let made = program(plan, element_bytes);
    check(plan, &made, element_bytes);
    check_shares(plan, &made, element_bytes);
}

/// Shapes on which algorithms are tried: in a row, and as grids.
fn shapes() -> impl Strategy<Value = Shape> {
    let dims =
        vec![vec![2], vec![3], vec![4], vec![5], vec![7], vec![8], vec![2, 3], vec![2, 4], vec![3, 3], vec![2; 3]];
    (prop::sample::select(dims), 1u32..5)
        .prop_map(|(dims, ports)| Shape::new(dims.iter().product(), &dims, ports).expect("a shape"))
}

/// A few elements, so that some chunks have none, or some more.
fn elements() -> impl Strategy<Value = u64> {
    prop_oneof![1u64..12, 12u64..300]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(200)))]

    #[test]
    fn programs_of_every_algorithm_give_what_the_collective_says(
        shape in shapes(),
        (elements, element_bytes, rest) in (elements(), 1u64..10, 0u64..10),
        (radix, root) in (prop::option::of(2u32..4), any::<prop::sample::Index>()),
        seed in any::<u64>(),
    ) {
        let mut drawn = Drawn { shape, rng: ChaCha8Rng::seed_from_u64(seed) };
        let size_bytes = elements * element_bytes + rest % element_bytes;
        let mut done = 0;
        for algorithm in REGISTRY {
            for &collective in Collective::ALL {
                let root = root.index(drawn.shape.gpus() as usize) as u32;
                let root = collective.has_root().then_some(root);
                let options = Options { radix, root, ..Options::default() };
                let Ok(schedule) = algorithm.build(collective, &drawn.shape, &options) else { continue };
                check_program(&planned(&mut drawn, &schedule, size_bytes), element_bytes);
                done += 1;
            }
        }
        prop_assert!(done >= Collective::ALL.len());
    }

    #[test]
    fn programs_of_unequal_pieces_give_every_pair_its_elements(
        shape in shapes(),
        (size_bytes, element_bytes) in (1u64..2000, 1u64..10),
        seed in any::<u64>(),
    ) {
        let mut drawn = Drawn { shape, rng: ChaCha8Rng::seed_from_u64(seed) };
        let schedule = pieces(&mut drawn);
        check_program(&planned(&mut drawn, &schedule, size_bytes), element_bytes);
    }
}

/// A ring's AllReduce between two ranks, with a buffer of this many bytes.
fn ring_of_two(size_bytes: u64) -> Plan {
    let mut drawn = Drawn { shape: Shape::new(2, &[], 1).expect("a shape"), rng: ChaCha8Rng::seed_from_u64(1) };
    let ring = collectives::find("ring").expect("an algorithm");
    let schedule = ring.build(Collective::AllReduce, &drawn.shape, &Options::default()).expect("a schedule");
    planned(&mut drawn, &schedule, size_bytes)
}

#[test]
fn a_buffer_without_an_element_is_refused() {
    let error = program_of(&ring_of_two(7), NonZeroU64::new(8).expect("bytes"), &Data::OfPlan).expect_err("no element");
    assert_eq!(error.to_string(), "plan: its buffer of 7 bytes holds no element of 8 bytes");
    assert_eq!(program(&ring_of_two(7), 4).input_bytes, [4, 4]);
}

#[test]
fn the_largest_buffer_is_cut_exactly() {
    let largest = (1 << 53) - 1;
    let made = program(&ring_of_two(largest), 1);
    assert_eq!(made.program.workspace_bytes, [largest; 2]);
    assert_eq!(made.program.size_bytes.iter().sum::<u64>(), 2 * largest);
}
