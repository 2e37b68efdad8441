//! Operations that only unsafe code can do: memory that processes share, a process that forks, its scheduling, and its
//! end; options of sockets; bytes of files that are held until a process ends.
//!
//! Shared memory is never handed out as a slice: other processes write to it. It is reached through atomic words, and
//! through copies to and from private memory. Who may copy where, and when, is the protocol of rings and barriers:
//! every byte has one owner at a time, and ownership passes by a release and an acquire of a word.
#![allow(unsafe_code)]

use std::io;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, AtomicU64};

use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::mm::{MapFlags, ProtFlags, mlock, mmap, munmap};
use rustix::process::Pid;

/// Memory shared with all processes that are forked after it was mapped; unmapped when dropped.
#[derive(Debug)]
pub struct Shared {
    base: NonNull<u8>,
    len: usize,
}

// SAFETY: all access is by atomic words and by copies, which the protocol above orders; nothing is tied to a thread.
unsafe impl Send for Shared {}
// SAFETY: as for `Send`.
unsafe impl Sync for Shared {}

impl Shared {
    /// Maps the first `len` bytes of a file in memory; at least one.
    pub fn map(file: impl AsFd, len: usize) -> io::Result<Self> {
        let len = len.max(1);
        // SAFETY: the kernel chooses the place, so that no other memory is replaced.
        let base =
            unsafe { mmap(ptr::null_mut(), len, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, file, 0)? };
        let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { base, len })
    }

    /// The word at an offset that is a multiple of 4.
    pub fn word(&self, offset: usize) -> &AtomicU32 {
        assert!(offset.is_multiple_of(4) && self.has(offset, 4), "word at {offset} of {}", self.len);
        // SAFETY: in bounds and aligned by the line above (mappings begin at pages); atomics may be shared.
        unsafe { AtomicU32::from_ptr(self.base.as_ptr().add(offset).cast()) }
    }

    /// The long word at an offset that is a multiple of 8.
    pub fn long(&self, offset: usize) -> &AtomicU64 {
        assert!(offset.is_multiple_of(8) && self.has(offset, 8), "long word at {offset} of {}", self.len);
        // SAFETY: as in `word`.
        unsafe { AtomicU64::from_ptr(self.base.as_ptr().add(offset).cast()) }
    }

    /// Copies what is at an offset.
    pub fn read(&self, offset: usize, into: &mut [u8]) {
        assert!(self.has(offset, into.len()), "{} bytes at {offset} of {}", into.len(), self.len);
        // SAFETY: in bounds by the line above; `into` is private, so the two do not overlap.
        unsafe { ptr::copy_nonoverlapping(self.base.as_ptr().add(offset), into.as_mut_ptr(), into.len()) }
    }

    /// Copies bytes to an offset.
    pub fn write(&self, offset: usize, from: &[u8]) {
        assert!(self.has(offset, from.len()), "{} bytes at {offset} of {}", from.len(), self.len);
        // SAFETY: as in `read`.
        unsafe { ptr::copy_nonoverlapping(from.as_ptr(), self.base.as_ptr().add(offset), from.len()) }
    }

    /// Copies bytes from one offset to another; the two ranges do not overlap.
    pub fn copy(&self, from: usize, to: usize, len: usize) {
        let overlap = from < to.saturating_add(len) && to < from.saturating_add(len);
        assert!(self.has(from, len) && self.has(to, len) && !(overlap && len > 0), "{len} bytes at {from} to {to}");
        // SAFETY: in bounds and apart by the line above.
        unsafe { ptr::copy_nonoverlapping(self.base.as_ptr().add(from), self.base.as_ptr().add(to), len) }
    }

    /// Asks that no page of it ever leaves memory; whether that was granted.
    pub fn lock(&self) -> bool {
        // SAFETY: the range is what `map` mapped.
        unsafe { mlock(self.base.as_ptr().cast(), self.len) }.is_ok()
    }

    /// Reads a byte of every page, so that the first to come to it later need not wait.
    pub fn touch(&self) {
        let mut byte = [0];
        (0..self.len).step_by(4096).for_each(|offset| self.read(offset, &mut byte));
    }

    fn has(&self, offset: usize, len: usize) -> bool {
        offset.checked_add(len).is_some_and(|end| end <= self.len)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: this is what `map` mapped; no reference into it outlives `self`. Memory that cannot be unmapped
        // stays.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.len) };
    }
}

/// A descriptor of its own for what the process got from its parent under a number.
pub fn inherited(descriptor: i32) -> io::Result<OwnedFd> {
    if descriptor < 0 {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: borrowed only while it is copied; one that is not open is refused by the system.
    let borrowed = unsafe { BorrowedFd::borrow_raw(descriptor) };
    Ok(rustix::io::fcntl_dupfd_cloexec(borrowed, 3)?)
}

/// The process after a fork: the new one, or the one that forked.
#[derive(Debug)]
pub enum Forked {
    /// The new process.
    Child,
    /// The process that forked, with the process id of the new one.
    Parent(Pid),
}

/// Forks. The caller has one thread, and a child calls `end` before it returns.
pub fn fork() -> io::Result<Forked> {
    // SAFETY: with one thread no lock is held by a thread that the child does not have.
    match unsafe { libc::fork() } {
        0 => Ok(Forked::Child),
        number => Pid::from_raw(number).filter(|_| number > 0).map(Forked::Parent).ok_or_else(io::Error::last_os_error),
    }
}

/// Ends the process at once, without what its parent left to be done at its end.
pub fn end(status: i32) -> ! {
    // SAFETY: takes no memory.
    unsafe { libc::_exit(status) }
}

/// Sets an option of a socket, by the numbers of its level and name.
pub fn set_option(socket: impl AsFd, level: i32, name: i32, value: &[u8]) -> io::Result<()> {
    let (descriptor, len) = (socket.as_fd().as_raw_fd(), value.len() as libc::socklen_t);
    // SAFETY: the descriptor is open, and the system copies `len` bytes of `value`.
    match unsafe { libc::setsockopt(descriptor, level, name, value.as_ptr().cast(), len) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Runs this process before all that have no real-time priority, and those of a lower one.
pub fn real_time(priority: i32) -> io::Result<()> {
    let wanted = libc::sched_param { sched_priority: priority };
    // SAFETY: `wanted` outlives the call.
    match unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const wanted) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Holds a byte of a file for this opening of it, until it is closed or its process ends; whether nobody else holds it.
pub fn hold(file: impl AsFd, byte: u32) -> io::Result<bool> {
    match asked(file, byte, libc::F_OFD_SETLK) {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EACCES)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether another opening of a file holds a byte of it.
pub fn is_held(file: impl AsFd, byte: u32) -> io::Result<bool> {
    Ok(asked(file, byte, libc::F_OFD_GETLK)? != libc::F_UNLCK as i16)
}

/// The kind of lock that the system tells of a byte, by one of its commands.
fn asked(file: impl AsFd, byte: u32, command: i32) -> io::Result<i16> {
    let mut lock = libc::flock {
        l_type: libc::F_WRLCK as i16,
        l_whence: libc::SEEK_SET as i16,
        l_start: byte.into(),
        l_len: 1,
        l_pid: 0,
    };
    // SAFETY: the descriptor is open, and `lock` outlives the call.
    match unsafe { libc::fcntl(file.as_fd().as_raw_fd(), command, &raw mut lock) } {
        0 => Ok(lock.l_type),
        _ => Err(io::Error::last_os_error()),
    }
}
