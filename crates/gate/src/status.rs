//! The status of a call.

use std::ffi::CStr;

/// The status of a call; the first three are the exit statuses of the command line.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LightloomGateStatus {
    /// The call succeeded.
    Done = 0,
    /// The system refused something, such as memory.
    Failed = 1,
    /// The arguments are wrong: a null pointer, a rank that the gate does not have or that is open already, a file that
    /// is no gate, or a step that is done before its circuits were up.
    WrongInput = 2,
    /// The circuits were not up, or the gate was not there, within the time.
    TimedOut = 3,
    /// The controller's process ended without closing the gate: no circuits will change any more.
    ControllerLost = 4,
    /// A rank ended, or closed the gate, before it was done with a step whose circuits have to go.
    RankLost = 5,
    /// A switch did not make the circuits.
    SwitchFailed = 6,
    /// The controller closed the gate: all runs that it was started for are over, or it was interrupted.
    Closed = 7,
}

impl LightloomGateStatus {
    /// All of them.
    pub(crate) const ALL: [Self; 8] = [
        Self::Done,
        Self::Failed,
        Self::WrongInput,
        Self::TimedOut,
        Self::ControllerLost,
        Self::RankLost,
        Self::SwitchFailed,
        Self::Closed,
    ];

    /// The status in words.
    pub fn words(self) -> &'static CStr {
        match self {
            Self::Done => c"done",
            Self::Failed => c"the system refused what the gate needs",
            Self::WrongInput => c"an argument of a call of the gate is wrong",
            Self::TimedOut => c"the circuits were not up within the time",
            Self::ControllerLost => c"the controller of the circuits ended",
            Self::RankLost => c"a rank ended before it was done with a step",
            Self::SwitchFailed => c"a switch did not make the circuits",
            Self::Closed => c"the controller closed the gate",
        }
    }
}
