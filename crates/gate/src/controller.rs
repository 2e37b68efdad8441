//! The controller's side: it makes the board, says which steps may begin, and learns what the ranks are done with.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use model::{Error, Result};
use runtime::{hold, now_ns};

use crate::board::{Board, CONTROLLER, JOINED, LEFT};
use crate::cutoffs::board::MOST_RANKS;
use crate::status::LightloomGateStatus;

/// How far the ranks are with the steps that the controller waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// All ranks are done with them.
    Done,
    /// Some are not, or have not opened the gate yet.
    Waiting,
    /// A rank's process ended, or closed the gate, before it was done with them.
    Lost(u32),
    /// All ranks have closed the gate.
    AllLeft,
}

/// The controller of a gate. Dropped, it tells the ranks that the gate is closed, and removes its file.
#[derive(Debug)]
pub struct Controller {
    board: Board,
    path: PathBuf,
}

impl Controller {
    /// Makes the gate at a path, for this many ranks and a plan of this many steps.
    ///
    /// A gate there whose controller has ended is replaced.
    ///
    /// # Errors
    /// Names `ranks`, or `gate`: a gate that is in use, another file, or a folder that cannot be written to.
    pub fn create(path: &Path, ranks: u32, steps: u32) -> Result<Self> {
        if !(1..=MOST_RANKS).contains(&ranks) {
            return Err(Error::value("ranks", ranks, format!("a whole number from 1 to {MOST_RANKS}")));
        }
        let refused = |why: &dyn std::fmt::Display| Error::malformed("gate", format!("`{}`: {why}", path.display()));
        match Board::open(path) {
            Ok(Some(other)) if other.is_held(CONTROLLER) => {
                return Err(refused(&"another controller serves this gate; give another path"));
            }
            Ok(None) => return Err(refused(&"the file that is there is no gate; give another path")),
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(refused(&error)),
            Ok(Some(_)) | Err(_) => {}
        }
        // Ranks find the gate under its name when it is whole.
        let name = path.file_name().ok_or_else(|| refused(&"it is not the path of a file"))?;
        let new = path.with_file_name(format!(".{}.{}", name.display(), std::process::id()));
        let made = File::options().read(true).write(true).create_new(true).mode(0o600).open(&new);
        let board = made.and_then(|file| Board::make(file, ranks, steps)).and_then(|board| {
            hold(board.file(), CONTROLLER)?;
            fs::rename(&new, path)?;
            Ok(board)
        });
        board.map(|board| Self { board, path: path.to_owned() }).map_err(|error| {
            // What could not be made is not left behind; that it is not there at all is no other fault.
            let _ = fs::remove_file(&new);
            refused(&error)
        })
    }

    /// Lets the first `up` steps begin: their circuits are up.
    pub fn publish(&self, up: u64) {
        self.board.up().store(up, Ordering::SeqCst);
        self.board.bell_of_ranks().ring();
    }

    /// How far the ranks are with the first `steps` steps: at once where that is not [`Progress::Waiting`], else when it
    /// changes, or at a moment of the monotonic clock.
    pub fn wait_done(&self, steps: u64, until_ns: u64) -> Progress {
        loop {
            let seen = self.board.bell_of_controller().seen();
            let progress = self.progress(steps);
            if progress != Progress::Waiting || now_ns() >= until_ns {
                return progress;
            }
            self.board.bell_of_controller().wait(seen, Some(until_ns));
        }
    }

    /// Tells the ranks that no more circuits come up, with the rank that was lost where one was.
    pub fn end(&self, status: LightloomGateStatus, lost: u32) {
        // The first end is the one that is told; nobody else writes it.
        if self.board.end().load(Ordering::SeqCst) == 0 {
            self.board.lost().store(lost, Ordering::SeqCst);
            self.board.end().store(status as u32, Ordering::SeqCst);
        }
        self.board.bell_of_ranks().ring();
    }

    /// The number of ranks that have the gate open.
    pub fn joined(&self) -> u32 {
        (0..self.board.ranks).filter(|&rank| self.presence(rank) == JOINED).count() as u32
    }

    /// The steps that all ranks are done with.
    pub fn done(&self) -> u64 {
        let each = (0..self.board.ranks).map(|rank| self.board.done(rank).load(Ordering::SeqCst));
        each.min().unwrap_or(0)
    }

    fn presence(&self, rank: u32) -> u32 {
        self.board.presence(rank).load(Ordering::SeqCst)
    }

    fn progress(&self, steps: u64) -> Progress {
        let is_wanted = self.board.wanted().load(Ordering::SeqCst) > self.board.up().load(Ordering::SeqCst);
        let (mut all_done, mut all_left, mut left) = (true, true, None);
        for rank in 0..self.board.ranks {
            // In this order: a rank is done with a step before it leaves.
            let presence = self.presence(rank);
            all_left &= presence == LEFT;
            if self.board.done(rank).load(Ordering::SeqCst) >= steps {
                continue;
            }
            all_done = false;
            // A process that ended has left the byte that it held, and did not say so.
            if presence == JOINED && !self.board.is_held(1 + rank) && self.presence(rank) == JOINED {
                return Progress::Lost(rank);
            }
            if presence == LEFT {
                left = left.or(Some(rank));
            }
        }
        match left {
            _ if all_left => Progress::AllLeft,
            _ if all_done => Progress::Done,
            // Ranks leave one by one at the end: one is missed only where another waits for circuits.
            Some(rank) if is_wanted => Progress::Lost(rank),
            _ => Progress::Waiting,
        }
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        self.end(LightloomGateStatus::Closed, 0);
        // The file is gone already where somebody removed it.
        let _ = fs::remove_file(&self.path);
    }
}
