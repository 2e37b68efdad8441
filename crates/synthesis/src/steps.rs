//! Steps of several rounds, so that start-ups are few.
//!
//! In a step of L rounds a circuit carries up to L chunks, all of which its sender has had since before the step. Long steps
//! save start-ups, and keep ranks waiting for what they could have passed on.

use model::Rank;

use crate::Sent;
use crate::network::Network;
use crate::spread::Spread;

/// How long steps are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// As many rounds as there is something to send for, up to so many. Without a limit steps are as few as the
    /// farthest rank is hops away.
    AtMost(u32),
    /// As many rounds as bring the end nearer by a round each, the end being as far away as the rank that lacks most for
    /// its circuits needs to take it in; as bring it nearer the most where none does.
    WhileNoneWaits,
}

/// What is sent in a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkStep {
    /// Chunks that a circuit carries at most.
    pub rounds: u32,
    /// What is sent.
    pub sent: Vec<Sent>,
}

/// Steps in which the blocks of `origins`, cut into `parts`, reach all ranks; `None` where some rank cannot be reached.
/// `origins` has one rank of each orbit of origins under the network's translations.
///
/// O(rounds · links · origins · parts).
pub fn steps(network: &Network, origins: &[Rank], parts: u32, length: Length) -> Option<Vec<ChunkStep>> {
    let mut spread = Spread::new(network, origins, parts)?;
    let mut steps = Vec::new();
    while !spread.is_done() {
        let rounds = match length {
            Length::AtMost(most) => (0..most).take_while(|_| spread.add_round()).count() as u32,
            Length::WhileNoneWaits => fill_while_none_waits(&mut spread),
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

/// Fills the step while more rounds bring the end nearer as fast; says how many rounds it has.
fn fill_while_none_waits(spread: &mut Spread) -> u32 {
    let before = spread.rounds_left();
    let (mut rounds, mut best) = (0, 0.0);
    loop {
        let shorter = spread.clone();
        if !spread.add_round() {
            return rounds;
        }
        let nearer = (before - spread.rounds_left()) / f64::from(rounds + 1);
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
