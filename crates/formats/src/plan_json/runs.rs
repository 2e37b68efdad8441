//! Ascending lists of chunks as arithmetic runs, so that a transfer of half of all chunks stays short.

use model::{Error, Result};
use serde::de::{Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

/// `first, first + stride, ..., last`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    first: u32,
    last: u32,
    stride: u32,
}

impl Run {
    /// The runs of an ascending list, greedily: at least three chunks make a run.
    pub(super) fn of(chunks: &[u32]) -> Vec<Self> {
        let mut runs = Vec::new();
        let mut rest = chunks;
        while let [first, tail @ ..] = rest {
            let stride = tail.first().map_or(1, |second| second - first);
            let length = 1 + tail.iter().zip(rest).take_while(|(next, before)| *next - *before == stride).count();
            let length = if length < 3 { 1 } else { length };
            runs.push(Self { first: *first, last: rest[length - 1], stride: if length == 1 { 1 } else { stride } });
            rest = &rest[length..];
        }
        runs
    }

    /// The chunks of `runs`, which must ascend and stay below `count`. `budget` is what may still be
    /// expanded in this plan; a few bytes of text can name millions of chunks.
    ///
    /// # Errors
    /// Runs that do not ascend, end beyond `count`, or exceed the budget.
    pub(super) fn expand(runs: &[Self], count: u32, budget: &mut usize, field: &str) -> Result<Vec<u32>> {
        let mut chunks = Vec::new();
        let mut next = 0;
        for run in runs {
            let whole = run.stride > 0 && run.first <= run.last && (run.last - run.first).is_multiple_of(run.stride);
            if !whole || run.first < next || run.last >= count {
                let shown = serde_json::to_string(run).unwrap_or_default();
                let reason = format!("chunks {shown} do not ascend below {count} in whole strides");
                return Err(Error::malformed(field, reason));
            }
            let length = ((run.last - run.first) / run.stride) as usize + 1;
            *budget = budget
                .checked_sub(length)
                .ok_or_else(|| Error::malformed(field, "the plan's transfers name more chunks than are read"))?;
            chunks.extend((run.first..=run.last).step_by(run.stride as usize));
            next = run.last + 1;
        }
        Ok(chunks)
    }
}

/// A number, or `[first, last, stride]`.
impl Serialize for Run {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self.first == self.last {
            true => self.first.serialize(serializer),
            false => (self.first, self.last, self.stride).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Run {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct RunVisitor;

        impl<'de> Visitor<'de> for RunVisitor {
            type Value = Run;

            fn expecting(&self, form: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                form.write_str("a chunk or [first, last, stride]")
            }

            fn visit_u64<E: serde::de::Error>(self, chunk: u64) -> std::result::Result<Run, E> {
                let chunk = u32::try_from(chunk).map_err(|_| E::custom("chunk out of range"))?;
                Ok(Run { first: chunk, last: chunk, stride: 1 })
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut run: A) -> std::result::Result<Run, A::Error> {
                let mut numbers = [0; 3];
                for (index, number) in numbers.iter_mut().enumerate() {
                    *number =
                        run.next_element()?.ok_or_else(|| serde::de::Error::invalid_length(index, &RunVisitor))?;
                }
                match run.next_element::<u32>()? {
                    None => Ok(Run { first: numbers[0], last: numbers[1], stride: numbers[2] }),
                    Some(_) => Err(serde::de::Error::invalid_length(4, &RunVisitor)),
                }
            }
        }

        deserializer.deserialize_any(RunVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn runs_expand_to_what_they_were_made_of(set in prop::collection::btree_set(0u32..200, 0..60)) {
            let chunks: Vec<u32> = set.into_iter().collect();
            let text = serde_json::to_string(&Run::of(&chunks)).unwrap();
            let runs: Vec<Run> = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(Run::expand(&runs, 200, &mut 60, "chunks").unwrap(), chunks);
        }
    }

    #[test]
    fn strided_chunks_make_one_run() {
        let chunks: Vec<u32> = (3..3000).step_by(7).collect();
        assert_eq!(Run::of(&chunks), [Run { first: 3, last: 2999, stride: 7 }]);
        assert_eq!(Run::of(&[1, 2, 9]).len(), 3);
    }

    #[test]
    fn runs_that_cannot_be_are_refused() {
        for bad in ["[[0,9,4]]", "[[5,4,1]]", "[[0,4,0]]", "[3,3]", "[4,[2,6,2]]", "[10]", "[[0,4294967295,1]]"] {
            let runs: Vec<Run> = serde_json::from_str(bad).unwrap();
            assert!(Run::expand(&runs, 10, &mut 100, "chunks").is_err(), "{bad}");
        }
        for bad in ["[[0,9]]", "[[0,9,1,1]]", "[-1]", "[1.5]", "[4294967296]", "[\"1\"]"] {
            assert!(serde_json::from_str::<Vec<Run>>(bad).is_err(), "{bad}");
        }
        let runs = [Run { first: 0, last: 9, stride: 1 }];
        assert!(Run::expand(&runs, 10, &mut 9, "chunks").is_err());
    }
}
