//! All-to-All strategies for fabrics that reconfigure while the collective runs, after "To reconfigure or not to
//! reconfigure: optimizing All-to-All collectives in circuit-switched photonic interconnects".
//!
//! A [`Strategy`] is a sequence of topologies, each with *rounds*; a round is a set of flows that start together,
//! each on one path of whole-block hops, no circuit carrying two blocks in one slot. A round lasts as many
//! slots as its longest path has hops. With R for a change of topology and T = α + δ + β·block for a slot,
//!
//! ```text
//! cost = R · topologies + T · Σ over rounds of the longest path        (§3.1)
//! ```
//!
//! **As plans.** The rest of Lightloom knows steps, not rounds. [`schedule()`] turns a round of h hops into h steps,
//! in each of which every flow that is under way moves its block over one circuit; blocks wait where they are in
//! between. Every step has one hop and a load of one block, so it costs exactly T, and a change of topology
//! costs α_r where it happens: the additive cost of the plan is the paper's cost, and the symbolic execution of
//! `verify` follows every block. The paper charges the first topology as a reconfiguration too; a plan does where
//! the fabric starts in another one, and not where the start is free. Strategies that are invariant under Z_n
//! keep one path per orbit, and so do their steps.
//!
//! ```text
//!             one port                       more ports
//! degree_one (cycle, shifts)  circulant, kautz, cayley ─▶ Contractions   §4.2, §4.3
//!             └───────────────▶ best ◀───────────────┘                   §4.1
//!                                │
//!                             Strategy ─▶ check, schedule
//!                                ▲
//!             baselines (MixNet, TopoOpt)           workloads            §5.1
//! ```
//!
//! Blocks of different sizes keep these strategies, with ranks relabelled ([`best_for_blocks`], §4.4). The lower bound
//! of theorem 1 is `bounds::all_to_all_hops`.

pub mod baselines;
mod bases;
mod best;
mod check;
mod circulant;
mod contraction;
mod cutoffs;
pub mod degree_one;
mod network;
mod packing;
mod price_lines;
mod schedule;
mod strategy;
mod unequal_blocks;
pub mod workloads;

pub use bases::{cayley, kautz, left_out};
pub use best::{best, best_that_can_be_held};
pub use check::check;
pub use circulant::circulant;
pub use contraction::{Contractions, NAME as CONTRACTION_NAME, contracted};
pub use price_lines::{PriceLine, price_line, price_lines};
pub use schedule::{Forwarding, MAX_STEPS, schedule};
pub use strategy::{Prices, Round, Stage, Strategy};
pub use unequal_blocks::{Blocks, best_for_blocks, without_empty_flows};
