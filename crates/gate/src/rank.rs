//! A rank's side: it waits until the circuits of a step are up, and says when it is done with the step.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use runtime::{hold, now_ns};

use crate::board::{ABSENT, Board, CONTROLLER, JOINED, LEFT};
use crate::cutoffs::rank::{CONTROLLER_NS, LOOKS, OPENING_NS};
use crate::status::LightloomGateStatus as Status;

/// A gate that a rank has open. Dropped, it tells the controller that the rank has left.
#[derive(Debug)]
pub struct Rank {
    board: Board,
    rank: u32,
}

impl Rank {
    /// Opens the gate at a path, once its controller is there.
    ///
    /// # Errors
    /// [`Status::TimedOut`] where no controller is there within the time, [`Status::WrongInput`] for a rank that the
    /// gate does not have or that another process is, and for another file; [`Status::Failed`] by the system.
    pub fn open(path: &Path, rank: u32, timeout_ns: u64) -> Result<Self, Status> {
        let until_ns = now_ns().saturating_add(timeout_ns);
        let board = loop {
            match Board::open(path) {
                Ok(Some(board)) if board.is_held(CONTROLLER) => break board,
                Ok(Some(_)) => {}
                Ok(None) => return Err(Status::WrongInput),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(_) => return Err(Status::Failed),
            }
            if now_ns() >= until_ns {
                return Err(Status::TimedOut);
            }
            std::thread::sleep(Duration::from_nanos(OPENING_NS));
        };
        if rank >= board.ranks || !hold(board.file(), 1 + rank).map_err(|_| Status::Failed)? {
            return Err(Status::WrongInput);
        }
        // A rank that left does not come back: others may have seen that it was gone.
        let presence = board.presence(rank);
        if presence.compare_exchange(ABSENT, JOINED, Ordering::SeqCst, Ordering::SeqCst).is_err() {
            return Err(Status::WrongInput);
        }
        board.bell_of_controller().ring();
        Ok(Self { board, rank })
    }

    /// Returns when the circuits of a step are up, or at the end of the time.
    ///
    /// # Errors
    /// The status that says why the circuits are not up.
    pub fn wait_for(&self, step: u64, timeout_ns: u64) -> Result<(), Status> {
        let is_up = || self.board.up().load(Ordering::SeqCst) > step;
        for _ in 0..LOOKS {
            if is_up() {
                return Ok(());
            }
            std::hint::spin_loop();
        }
        let mut looked_ns = now_ns();
        let until_ns = looked_ns.saturating_add(timeout_ns);
        if self.board.wanted().fetch_max(step.saturating_add(1), Ordering::SeqCst) <= step {
            self.board.bell_of_controller().ring();
        }
        loop {
            let bell = self.board.bell_of_ranks();
            let seen = bell.seen();
            if is_up() {
                return Ok(());
            }
            self.ended()?;
            let now = now_ns();
            if now >= until_ns || now - looked_ns >= CONTROLLER_NS {
                looked_ns = now;
                if !self.board.is_held(CONTROLLER) {
                    // A controller says how it ends before it is gone.
                    self.ended()?;
                    return if is_up() { Ok(()) } else { Err(Status::ControllerLost) };
                }
            }
            if now >= until_ns {
                return Err(Status::TimedOut);
            }
            bell.wait(seen, Some(until_ns.min(now.saturating_add(CONTROLLER_NS))));
        }
    }

    /// Says that this rank has sent and received all of a step, and of all steps before it.
    ///
    /// # Errors
    /// [`Status::WrongInput`] for a step whose circuits have not been up.
    pub fn done(&self, step: u64) -> Result<(), Status> {
        if step >= self.board.up().load(Ordering::SeqCst) {
            return Err(Status::WrongInput);
        }
        self.board.done(self.rank).fetch_max(step + 1, Ordering::SeqCst);
        self.board.bell_of_controller().ring();
        Ok(())
    }

    /// The steps of one run of the plan.
    pub fn steps(&self) -> u32 {
        self.board.steps
    }

    /// The rank that was lost, after [`Status::RankLost`].
    pub fn lost(&self) -> Option<u32> {
        let is_lost = self.board.end().load(Ordering::SeqCst) == Status::RankLost as u32;
        is_lost.then(|| self.board.lost().load(Ordering::SeqCst))
    }

    fn ended(&self) -> Result<(), Status> {
        let told = self.board.end().load(Ordering::SeqCst);
        Status::ALL.into_iter().find(|&end| told != 0 && end as u32 == told).map_or(Ok(()), Err)
    }
}

impl Drop for Rank {
    fn drop(&mut self) {
        self.board.presence(self.rank).store(LEFT, Ordering::SeqCst);
        self.board.bell_of_controller().ring();
    }
}
