//! Programs of random transfers, run on processes, against an interpreter that moves bytes in one process; what is measured
//! of circuits, of forwarded bytes and of dark time, against what the program says.
//!
//! Controllers fork, which takes a process with one thread: the binary starts itself anew for them, and has no harness,
//! which has threads.

#[cfg(target_os = "linux")]
mod controller;
#[cfg(target_os = "linux")]
mod drawn;
#[cfg(target_os = "linux")]
mod interpreter;

#[cfg(target_os = "linux")]
fn main() {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    if let Some(descriptor) = controller::told() {
        lightloom_runtime::serve(descriptor).expect("a socket that is served");
        return;
    }
    let mut controller = controller::Controller::start();
    let mut rng = ChaCha8Rng::seed_from_u64(draws::seed(27));
    let mut seen = interpreter::Seen::default();
    for case in 0..draws::cases(240) {
        let (request, workspaces) = drawn::request(&mut rng);
        let (report, found) = controller.run(&request, &workspaces);
        interpreter::check(&request, &workspaces, &report, &found, case, &mut seen);
    }
    controller.end();
    assert!(seen.forwarded > 20 && seen.reduced > 100 && seen.dark > 20 && seen.hidden > 5, "too few: {seen:?}");
}

#[cfg(not(target_os = "linux"))]
fn main() {}
