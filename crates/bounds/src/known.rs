//! Bounds that were asked for already.

use model::{Collective, CostSettings, Fabric, Latest, Piece};

use crate::cutoffs::known::{MOST, MOST_OF_PIECES};
use crate::{Statement, any_algorithm};

/// The latest bounds for any algorithm, kept for callers that ask for the same one again: the plan of a choice, its
/// judge, the planners that state it as theirs, and the layouts of a model, which have collectives in common. Passed on
/// by its owner; nothing else keeps bounds.
#[derive(Debug, Default)]
pub struct KnownBounds {
    latest: Latest<(Question, Statement), MOST>,
    of_pieces: Latest<(Question, Statement), MOST_OF_PIECES>,
}

/// The inputs on which a bound depends.
#[derive(Debug, Clone, PartialEq)]
struct Question {
    // The fields that tell most questions apart come first.
    size_bytes: u64,
    collective: Collective,
    settings: CostSettings,
    fabric: Fabric,
    pieces: Option<Vec<Piece>>,
}

impl KnownBounds {
    /// [`any_algorithm`], computed where it was not asked for lately.
    pub fn any_algorithm(
        &self,
        collective: Collective,
        pieces: Option<&[Piece]>,
        fabric: &Fabric,
        settings: CostSettings,
        size_bytes: u64,
    ) -> Statement {
        let fabric = fabric.clone();
        let question = Question { collective, pieces: pieces.map(<[Piece]>::to_vec), fabric, settings, size_bytes };
        let is_it = |(asked, _): &&(Question, Statement)| *asked == question;
        let known = if pieces.is_some() { self.of_pieces.find(is_it) } else { self.latest.find(is_it) };
        if let Some((_, known)) = known {
            return known;
        }
        let statement = any_algorithm(collective, question.pieces.as_deref(), &question.fabric, settings, size_bytes);
        let made = (question, statement.clone());
        if pieces.is_some() {
            self.of_pieces.keep(made)
        } else {
            self.latest.keep(made)
        }
        statement
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Initial, ReconfigurationPolicy, Shape};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(draws::cases(32)))]

        /// The answer does not depend on earlier questions.
        #[test]
        fn what_is_known_is_what_is_computed(
            questions in prop::collection::vec((0usize..5, 2u32..20, 1u32..3, 0u32..3), 1..40),
        ) {
            let known = KnownBounds::default();
            for (collective, gpus, ports, log_delay) in questions {
                let collective = Collective::ALL[collective];
                let fabric = Fabric {
                    shape: Shape::new(gpus, &[], ports).unwrap(),
                    bandwidth_bps: 8e11,
                    startup_s: 5e-7,
                    barrier_s: 0.0,
                    hop_delay_s: 5e-7,
                    reconfiguration: ReconfigurationPolicy::constant(10f64.powi(log_delay as i32 - 7)),
                    initial: Initial::Free,
                    optics: None,
                    electrical: None,
                };
                let settings = CostSettings::default();
                let expected = any_algorithm(collective, None, &fabric, settings, 1 << 20);
                prop_assert_eq!(known.any_algorithm(collective, None, &fabric, settings, 1 << 20), expected);
                prop_assert!(known.latest.count() <= MOST);
            }
        }
    }
}
