//! The number of threads that compute: that of `RAYON_NUM_THREADS`, and never more than there are cores.

use std::sync::Once;
use std::thread::available_parallelism;

use rayon::ThreadPoolBuilder;

const ASKED: &str = "RAYON_NUM_THREADS";

/// A pool on all cores, or on fewer where `RAYON_NUM_THREADS` says so.
pub fn all_cores() -> ThreadPoolBuilder {
    let cores = available_parallelism().map_or(1, usize::from);
    let threads = asked().map_or(cores, |asked| asked.min(cores));
    ThreadPoolBuilder::new().num_threads(threads).thread_name(|index| format!("lightloom-{index}"))
}

/// Has rayon's own pool, which takes `RAYON_NUM_THREADS` at its word, take no more threads than there are cores.
///
/// A pool that was started before stays as it is.
pub fn bound_threads() {
    static BEGUN: Once = Once::new();
    BEGUN.call_once(|| {
        // Else it is started when work is first shared.
        if asked().is_some_and(|asked| asked > available_parallelism().map_or(1, usize::from)) {
            let _ = all_cores().build_global();
        }
    });
}

/// The value of `RAYON_NUM_THREADS`; `None` where rayon takes no notice of it.
fn asked() -> Option<usize> {
    std::env::var(ASKED).ok()?.parse().ok().filter(|threads| *threads > 0)
}
