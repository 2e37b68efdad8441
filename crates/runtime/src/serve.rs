//! The controller process: takes requests from the process that started it, until that is gone.
//!
//! Messages are a byte for the kind, four for the length, least first, and this many bytes. It hears `run` (a request,
//! with the descriptor of the workspaces) and `said` (what the outside switch answered: nothing, or why it refused); it
//! says `progress`, `outside` (the number of a configuration), `report` and `fault`.

use std::cell::{Cell, RefCell};
use std::io::{IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::unix::net::UnixStream;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

use crate::controller::run;
use crate::cutoffs::serve::MOST_BYTES;
use crate::fault::Fault;
use crate::owner::Owner;
use crate::request::Request;
use crate::system::inherited;

const RUN: u8 = b'r';
const SAID: u8 = b's';
const PROGRESS: u8 = b'p';
const OUTSIDE: u8 = b'o';
const REPORT: u8 = b'R';
const FAULT: u8 = b'F';

/// Kind and content of a message, with the descriptor that came with it.
type Heard = (u8, Vec<u8>, Option<OwnedFd>);

/// The process at the other end of a socket.
struct Asker {
    socket: UnixStream,
    /// The answer of the outside switch.
    said: RefCell<Option<Result<(), String>>>,
    /// Whether nothing can be said to it any more.
    is_gone: Cell<bool>,
}

/// Serves the process at the other end of the socket with that descriptor until it closes it.
///
/// # Errors
/// No such descriptor, or a message that is malformed.
pub fn serve(descriptor: i32) -> std::io::Result<()> {
    let asker = Asker { socket: inherited(descriptor)?.into(), said: RefCell::default(), is_gone: Cell::new(false) };
    while let Some((kind, message, file)) = asker.hear()? {
        let (RUN, Some(file)) = (kind, file) else { continue };
        let found = match postcard::from_bytes::<Request>(&message) {
            Ok(request) => run(&request, &file, &asker),
            Err(error) => Err(Fault::system("the request cannot be read", error)),
        };
        match found {
            Ok(report) => match postcard::to_allocvec(&report) {
                Ok(bytes) => asker.say(REPORT, &bytes),
                Err(error) => asker.say(FAULT, error.to_string().as_bytes()),
            },
            Err(Fault::Abandoned) => return Ok(()),
            Err(fault) => asker.say(FAULT, fault.to_string().as_bytes()),
        }
    }
    Ok(())
}

impl Asker {
    /// The next message; `None` where the other end is closed.
    fn hear(&self) -> std::io::Result<Option<Heard>> {
        let mut head = [0; 5];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let mut file = None;
        let first = {
            let mut slices = [IoSliceMut::new(&mut head)];
            recvmsg(&self.socket, &mut slices, &mut ancillary, RecvFlags::CMSG_CLOEXEC)?.bytes
        };
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                file = descriptors.into_iter().next().or(file);
            }
        }
        if first == 0 {
            return Ok(None);
        }
        (&self.socket).read_exact(&mut head[first..])?;
        let len = u32::from_le_bytes([head[1], head[2], head[3], head[4]]) as usize;
        if len > MOST_BYTES {
            return Err(std::io::ErrorKind::InvalidData.into());
        }
        let mut message = vec![0; len];
        (&self.socket).read_exact(&mut message)?;
        Ok(Some((head[0], message, file)))
    }

    fn say(&self, kind: u8, message: &[u8]) {
        let mut head = [kind, 0, 0, 0, 0];
        head[1..].copy_from_slice(&(message.len() as u32).to_le_bytes());
        if (&self.socket).write_all(&head).and_then(|()| (&self.socket).write_all(message)).is_err() {
            self.is_gone.set(true);
        }
    }
}

impl Owner for Asker {
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.socket.as_fd())
    }

    fn listen(&self) -> Result<(), Fault> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        if self.is_gone.get() {
            return Err(Fault::Abandoned);
        }
        let mut polled = [PollFd::new(&self.socket, PollFlags::IN)];
        if !matches!(poll(&mut polled, Some(&Timespec::default())), Ok(1)) {
            return Ok(());
        }
        match self.hear() {
            Ok(Some((SAID, message, _))) => {
                let why = String::from_utf8_lossy(&message).into_owned();
                *self.said.borrow_mut() = Some(if why.is_empty() { Ok(()) } else { Err(why) });
                Ok(())
            }
            Ok(Some(_)) => Ok(()),
            Ok(None) | Err(_) => Err(Fault::Abandoned),
        }
    }

    fn progress(&self, runs: u32) {
        self.say(PROGRESS, &runs.to_le_bytes());
    }

    fn ask_outside(&self, configuration: usize) {
        *self.said.borrow_mut() = None;
        self.say(OUTSIDE, &(configuration as u32).to_le_bytes());
    }

    fn outside_said(&self) -> Option<Result<(), String>> {
        self.said.borrow_mut().take()
    }
}
