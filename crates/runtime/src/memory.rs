//! Files in memory, without a name: nothing of them is left when the last process that has one ends.

use rustix::fd::OwnedFd;
use rustix::fs::{FallocateFlags, MemfdFlags, fallocate, memfd_create};
use rustix::io::Errno;

use crate::fault::Fault;

/// A file of this many bytes, all of which are reserved: missing memory is a fault now, not a crash later.
pub fn file_in_memory(name: &str, bytes: u64) -> Result<OwnedFd, Fault> {
    let refused =
        |error: Errno| Fault::system("memory", format!("the system refused {} for {name}: {error}", mib(bytes)));
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

/// Bytes that the system says it can give without swapping, and this process's group may take; `None` where it does not
/// say.
pub fn free_bytes() -> Option<u64> {
    [of_machine(), of_group()].into_iter().flatten().min()
}

fn of_machine() -> Option<u64> {
    let told = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = told.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Memory that is left of a container's limit.
fn of_group() -> Option<u64> {
    let told = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let group = told.lines().find_map(|line| line.strip_prefix("0::"))?.trim_start_matches('/').to_owned();
    let number = |name: &str| {
        let path = std::path::Path::new("/sys/fs/cgroup").join(&group).join(name);
        std::fs::read_to_string(path).ok()?.trim().parse::<u64>().ok()
    };
    number("memory.max")?.checked_sub(number("memory.current")?)
}

fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_machine_has_is_refused_in_a_line() {
        let fault = check_free(u64::MAX).unwrap_err().to_string();
        assert!(fault.starts_with("memory: the run needs 17592186044416.0 MiB, and "), "{fault}");
        assert_eq!(check_free(0), Ok(()));
        assert!(free_bytes().is_some_and(|bytes| bytes > 0));
    }

    #[test]
    fn a_file_that_cannot_be_had_is_refused_in_a_line() {
        let fault = file_in_memory("too much", u64::MAX).unwrap_err().to_string();
        assert!(fault.starts_with("memory: the system refused 17592186044416.0 MiB for too much: "), "{fault}");
    }
}
