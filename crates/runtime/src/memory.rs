//! Files in memory, without a name: nothing of them is left when the last process that has one ends.

use rustix::fd::OwnedFd;
use rustix::fs::{FallocateFlags, MemfdFlags, fallocate, memfd_create};
use rustix::io::Errno;

use crate::fault::Fault;

/// A file of so many bytes, all of which are there: memory that is missing is a fault now, not a crash later.
pub fn file_in_memory(name: &str, bytes: u64) -> Result<OwnedFd, Fault> {
    let refused = |error: Errno| Fault::system("memory", format!("{} for {name} were refused: {error}", mib(bytes)));
    let file = memfd_create(name, MemfdFlags::CLOEXEC).map_err(refused)?;
    fallocate(&file, FallocateFlags::empty(), 0, bytes.max(1)).map_err(refused)?;
    Ok(file)
}

/// Refuses what is more than the machine has to give.
pub fn check_free(bytes: u64) -> Result<(), Fault> {
    let Some(free) = free_bytes() else { return Ok(()) };
    if bytes > free {
        return Err(Fault::system("memory", format!("the run needs {}, and {} are free", mib(bytes), mib(free))));
    }
    Ok(())
}

/// Bytes that the system says it can give without swapping; none where it does not say.
fn free_bytes() -> Option<u64> {
    let told = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = told.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}
