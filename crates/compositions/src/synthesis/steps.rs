//! Steps of several rounds, so that start-ups are few.
//!
//! In a step of L rounds a circuit carries up to L chunks, all of which its sender has had since before the step. Long
//! steps save start-ups, and keep ranks waiting for what they could have passed on.

use model::Rank;

use super::Sent;
use super::network::Network;
use super::spread::Spread;

/// The lengths of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// Rounds for as long as there is something to send, up to this many. Without a limit steps are as few as the
    /// farthest rank is hops away.
    AtMost(u32),
    /// The largest number of rounds that bring the end nearer by one round each, where the end is as far away as the
    /// rank that lacks most for its circuits needs to receive it; the number that brings it nearer the most where there
    /// is none.
    WhileNoneWaits,
    /// The number of rounds that brings the end nearer the most for their time and that of the startup, which is given
    /// in sixteenths of a round. The measure is the mean over ranks of the 16th power of what they lack for their
    /// circuits: nearly the one that lacks most, but not only that one.
    Worthwhile {
        /// Cost of a step in addition to its rounds.
        startup: u32,
    },
}

/// The transfers of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkStep {
    /// Chunks that a circuit carries at most.
    pub rounds: u32,
    /// The transfers.
    pub sent: Vec<Sent>,
}

/// Steps in which the blocks of `origins`, cut into `parts`, reach all ranks; `None` where some rank cannot be reached.
/// `origins` has one rank of each orbit of origins under the network's translations; a rank that is listed several times
/// has as many blocks.
///
/// O(rounds · links · origins · parts).
pub fn steps(network: &Network, origins: &[Rank], parts: u32, length: Length) -> Option<Vec<ChunkStep>> {
    let mut spread = Spread::new(network, origins, parts)?;
    let mut steps = Vec::new();
    while !spread.is_done() {
        let rounds = match length {
            Length::AtMost(most) => (0..most).take_while(|_| spread.add_round()).count() as u32,
            Length::WhileNoneWaits => fill(&mut spread, 0.0, |spread| spread.most_rounds_left()),
            Length::Worthwhile { startup } => {
                fill(&mut spread, f64::from(startup) / 16.0, |spread| spread.rounds_left())
            }
        };
        if rounds == 0 {
            break;
        }
        steps.push(ChunkStep { rounds, sent: spread.arrive() });
    }
    Some(steps)
}

/// Rounds in which every circuit carries at most one chunk: steps of one round.
pub fn rounds(network: &Network, origins: &[Rank], parts: u32) -> Option<Vec<Vec<Sent>>> {
    let steps = steps(network, origins, parts, Length::AtMost(1))?;
    Some(steps.into_iter().map(|step| step.sent).collect())
}

/// Fills the step while what is left falls faster with another round, for its time and that of a start-up; says how
/// many rounds the step has.
fn fill(spread: &mut Spread, startup: f64, left: impl Fn(&Spread<'_>) -> f64) -> u32 {
    let before = left(spread);
    let (mut rounds, mut best) = (0, 0.0);
    loop {
        let shorter = spread.clone();
        if !spread.add_round() {
            return rounds;
        }
        let nearer = (before - left(spread)) / (startup + f64::from(rounds + 1));
        if rounds > 0 && nearer < best - TIE {
            *spread = shorter;
            return rounds;
        }
        best = nearer;
        rounds += 1;
    }
}

/// Gains that differ by no more are equal: they are quotients of whole numbers.
const TIE: f64 = 1e-9;
