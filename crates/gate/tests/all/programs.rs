//! The example in C against the library: a process for each rank, and ranks and controllers that die.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use lightloom_gate::{Controller, LightloomGateStatus as Status, Progress, Rank};

use crate::folder::Folder;

const SECOND_NS: u64 = 1_000_000_000;

/// The example, linked with the library; `None` where there is no compiler.
fn example(name: &str) -> Option<PathBuf> {
    if Command::new("cc").arg("--version").output().is_err() {
        eprintln!("skipped: there is no cc");
        return None;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let test = std::env::current_exe().expect("this test");
    let (libraries, folder) = (test.parent().expect("its folder"), Path::new(env!("CARGO_TARGET_TMPDIR")).join(name));
    std::fs::create_dir_all(&folder).expect("a folder");
    // The library's own name is that under which it is installed.
    std::fs::copy(libraries.join("liblightloom_gate.so"), folder.join("liblightloom_gate.so.1")).expect("the library");
    let made = folder.join("gate");
    let mut compile = Command::new("cc");
    compile.args(["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I"]).arg(root.join("crates/gate/include"));
    compile.arg(root.join("examples/c/gate.c")).arg("-o").arg(&made).arg("-L").arg(libraries).arg("-llightloom_gate");
    compile.arg(format!("-Wl,-rpath,{}", folder.display()));
    let ran = compile.output().expect("the compiler starts");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    Some(made)
}

fn start(example: &Path, gate: &Path, ranks: u32, runs: u32) -> Child {
    let mut command = Command::new(example);
    command.arg(gate).args([ranks.to_string(), runs.to_string()]).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the example starts")
}

#[test]
fn processes_go_through_all_steps_of_all_runs() {
    let Some(example) = example("steps") else { return };
    let folder = Folder::new();
    let (ranks, steps, runs) = (8, 5, 40);
    let controller = Controller::create(&folder.gate(), ranks, steps).expect("a gate");
    let child = start(&example, &folder.gate(), ranks, runs);
    for step in 0..u64::from(steps * runs) {
        assert_eq!(controller.wait_done(step, u64::MAX), Progress::Done);
        controller.publish(step + 1);
    }
    assert_eq!(controller.wait_done(u64::from(steps * runs) + 1, u64::MAX), Progress::AllLeft);
    let ran = child.wait_with_output().expect("it ends");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    let mut lines: Vec<_> = said.lines().collect();
    lines.sort_unstable();
    let wanted: Vec<_> = (0..ranks).map(|rank| format!("rank {rank}: 200 steps, each on its circuits")).collect();
    assert_eq!(lines, wanted);
}

#[test]
fn a_rank_that_is_killed_is_told_by_its_number() {
    let Some(example) = example("killed") else { return };
    let folder = Folder::new();
    let controller = Controller::create(&folder.gate(), 2, 1).expect("a gate");
    let survivor = Rank::open(&folder.gate(), 1, 0).expect("it opens");
    // The example's one rank waits for circuits that do not come, and is killed there.
    let mut child = start(&example, &folder.gate(), 1, 1);
    while controller.joined() < 2 {
        std::thread::yield_now();
    }
    // Rank 0 is a child of the program, which has no other.
    let children = format!("/proc/{0}/task/{0}/children", child.id());
    let rank = std::fs::read_to_string(children).expect("its children").trim().to_owned();
    assert!(Command::new("kill").args(["-KILL", &rank]).status().expect("kill starts").success());
    child.wait().expect("it ends");
    assert_eq!(controller.wait_done(1, u64::MAX), Progress::Lost(0));
    controller.end(Status::RankLost, 0);
    assert_eq!(survivor.wait_for(0, SECOND_NS), Err(Status::RankLost));
    assert_eq!(survivor.lost(), Some(0));
}

#[test]
fn ranks_whose_controller_closes_say_so_in_a_line() {
    let Some(example) = example("closed") else { return };
    let folder = Folder::new();
    let controller = Controller::create(&folder.gate(), 2, 3).expect("a gate");
    let mut child = start(&example, &folder.gate(), 2, 1);
    while controller.joined() < 2 {
        std::thread::yield_now();
    }
    drop(controller);
    assert_eq!(child.wait().expect("it ends").code(), Some(Status::Closed as i32));
    let mut said = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut said).expect("text");
    assert_eq!(
        said.lines().filter(|line| line.ends_with(": step: the controller closed the gate")).count(),
        2,
        "{said}"
    );
}
