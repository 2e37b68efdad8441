//! All interleavings of the gate's words, as a model: a controller that publishes and a rank that waits and is done, each
//! an automaton whose transitions are single operations on shared words, as `Bell`, `wait_for` and `wait_done` make them.
//! No state is reached from which nobody can go on before both are over: that would be a lost wake-up.

use std::collections::BTreeSet;

/// Steps that are gone through: both sides' words have been seen in all their orders by the second.
const STEPS: u8 = 3;

/// A side: where it is in its code, the count of rings that it read, the steps that it is through, and whether it sleeps.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
struct Side {
    line: u8,
    seen: u8,
    step: u8,
    asleep: bool,
}

/// The words: by side the number that it publishes, and the bell that it sleeps at: rings, and how many sleep.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
struct State {
    sides: [Side; 2],
    told: [u8; 2],
    rung: [u8; 2],
    sleeps: [u8; 2],
}

/// A variant of the code, for which the model says whether a wake-up is lost.
#[derive(Clone, Copy)]
struct Code {
    /// Whether the count of rings is read before the word that is waited for, as it must be.
    reads_bell_first: bool,
}

/// The state after a side's next operation; `None` where it sleeps or is over. Side 0 publishes step k and waits until
/// side 1 is done with it; side 1 waits for step k and is done with it.
fn next(state: &State, who: usize, code: Code) -> Option<State> {
    let (mut after, other) = (*state, 1 - who);
    let side = &mut after.sides[who];
    if side.asleep || side.step == STEPS {
        return None;
    }
    let has_come = state.told[other] > side.step;
    let (bell, look) = if code.reads_bell_first { (2, 3) } else { (3, 2) };
    // Side 0 begins with its own word, side 1 with waiting: lines 0 and 1 are a turn of telling, 2 to 5 one of waiting.
    match side.line {
        line if line == bell => {
            side.seen = state.rung[who];
            side.line += 1;
        }
        line if line == look => {
            side.line = if has_come { 6 } else { side.line + 1 };
        }
        4 => {
            after.sleeps[who] += 1;
            side.line = 5;
        }
        5 => {
            // The system compares and puts to sleep in one operation.
            side.asleep = state.rung[who] == side.seen;
            side.line = 7;
        }
        7 => {
            after.sleeps[who] -= 1;
            side.line = 2;
        }
        6 => {
            // What was waited for is there: side 1 tells that it is done, side 0 goes on to tell the next step.
            side.line = 0;
            if who == 0 {
                side.step += 1;
            }
        }
        0 => {
            after.told[who] += 1;
            side.line = 1;
        }
        1 => {
            after.rung[other] += 1;
            side.line = 8;
        }
        _ => {
            // The last of a ring: whoever sleeps is woken where the ringer sees that it does.
            if state.sleeps[other] > 0 {
                after.sides[other].asleep = false;
            }
            let side = &mut after.sides[who];
            side.line = 2;
            if who == 1 {
                side.step += 1;
            }
        }
    }
    Some(after)
}

/// The states that can be reached in which nobody can go on though somebody is not through.
fn stuck(code: Code) -> (usize, usize) {
    let mut first = State::default();
    first.sides[1].line = 2;
    let mut found = BTreeSet::from([first]);
    let (mut left, mut stuck) = (vec![first], 0);
    while let Some(state) = left.pop() {
        let after: Vec<State> = (0..2).filter_map(|who| next(&state, who, code)).collect();
        stuck += usize::from(after.is_empty() && state.sides.iter().any(|side| side.step < STEPS));
        left.extend(after.into_iter().filter(|&one| found.insert(one)));
    }
    (found.len(), stuck)
}

#[test]
fn no_interleaving_loses_a_wake_up() {
    let (states, stuck) = stuck(Code { reads_bell_first: true });
    assert!(states > 300, "{states}");
    assert_eq!(stuck, 0, "of {states} states");
}

#[test]
fn the_model_finds_a_wake_up_that_is_lost() {
    assert!(stuck(Code { reads_bell_first: false }).1 > 0);
}
