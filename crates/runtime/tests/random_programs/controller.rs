//! A process that serves runs, as whoever asks for them has it: `crates/runtime/src/serve.rs` has the messages.

use std::io::{IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command};

use lightloom_runtime::{Report, Request};
use rustix::fd::{AsFd, AsRawFd};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

/// The argument that is followed by the descriptor of a socket.
const SERVE: &str = "serve-runs-at";

/// The descriptor at which this process is told to serve, if it is.
pub fn told() -> Option<i32> {
    let mut arguments = std::env::args().skip_while(|argument| argument != SERVE).skip(1);
    arguments.next().map(|descriptor| descriptor.parse().expect("a descriptor"))
}

/// A controller process, and the socket that leads to it.
pub struct Controller {
    socket: UnixStream,
    process: Child,
}

impl Controller {
    /// Starts one.
    pub fn start() -> Self {
        let (socket, theirs) = UnixStream::pair().expect("a pair of sockets");
        fcntl_setfd(&theirs, FdFlags::empty()).expect("a descriptor that is kept");
        let program = std::env::current_exe().expect("this program");
        let process =
            Command::new(program).arg(SERVE).arg(theirs.as_raw_fd().to_string()).spawn().expect("a process of its own");
        Self { socket, process }
    }

    /// What was measured, and what the workspaces hold at the end, one after the other.
    pub fn run(&mut self, request: &Request, workspaces: &[u8]) -> (Report, Vec<u8>) {
        let memory = memfd_create("workspaces", MemfdFlags::CLOEXEC).expect("memory");
        let mut file = std::fs::File::from(memory);
        file.write_all(workspaces).expect("memory");
        let message = postcard::to_allocvec(request).expect("a request");
        let mut head = [b'r', 0, 0, 0, 0];
        head[1..].copy_from_slice(&(message.len() as u32).to_le_bytes());
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        let descriptors = [file.as_fd()];
        assert!(ancillary.push(SendAncillaryMessage::ScmRights(&descriptors)));
        let sent = sendmsg(&self.socket, &[IoSlice::new(&head)], &mut ancillary, SendFlags::empty());
        assert_eq!(sent, Ok(head.len()));
        self.socket.write_all(&message).expect("a controller that listens");
        let report = loop {
            match self.hear() {
                (b'p', _) => {}
                (b'R', report) => break postcard::from_bytes(&report).expect("a report"),
                (_, fault) => panic!("{}", String::from_utf8_lossy(&fault)),
            }
        };
        let mut found = vec![0; workspaces.len()];
        std::os::unix::fs::FileExt::read_exact_at(&file, &mut found, 0).expect("workspaces");
        (report, found)
    }

    /// Closes the socket, at which the process ends.
    pub fn end(mut self) {
        drop(self.socket);
        assert!(self.process.wait().expect("a process that ends").success());
    }

    fn hear(&mut self) -> (u8, Vec<u8>) {
        let mut head = [0; 5];
        self.socket.read_exact(&mut head).expect("a controller that answers");
        let mut message = vec![0; u32::from_le_bytes([head[1], head[2], head[3], head[4]]) as usize];
        self.socket.read_exact(&mut message).expect("a controller that answers");
        (head[0], message)
    }
}
