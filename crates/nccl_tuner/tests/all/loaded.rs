//! The library loaded by a program in C as NCCL loads it, and asked a thousand times.

use std::path::Path;
use std::process::{Command, Output};

const TABLE: &str = "lightloom-nccl-tuner 1
ring all-reduce 8 ring auto 0 84 22
ring all-reduce 8 tree simple 0 20 60
mesh all-reduce 8 tree ll128 2 1 1
";

/// What the program says, run with a table's text and other variables; `None` where there is no compiler.
fn ran(name: &str, table: Option<&str>, variables: &[(&str, &str)]) -> Option<Output> {
    if Command::new("cc").arg("--version").output().is_err() {
        eprintln!("skipped: there is no cc");
        return None;
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all/nccl.c");
    let made = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("nccl-{name}"));
    let mut compile = Command::new("cc");
    compile.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE"]).arg(source).arg("-o").arg(&made);
    let compiled = compile.arg("-ldl").output().expect("the compiler starts");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let library = std::env::current_exe().expect("this test").with_file_name("libnccl_tuner_lightloom.so");
    let mut program = Command::new(&made);
    program.arg(library).env_remove("LIGHTLOOM_TUNER_TABLE").env_remove("LIGHTLOOM_TUNER_TOPOLOGY");
    if let Some(text) = table {
        let path = made.with_extension("table");
        std::fs::write(&path, text).expect("a table");
        program.env("LIGHTLOOM_TUNER_TABLE", path);
    }
    Some(program.envs(variables.iter().copied()).output().expect("the program starts"))
}

fn lines(ran: &Output) -> Vec<String> {
    assert!(ran.status.success(), "{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    String::from_utf8_lossy(&ran.stdout).lines().map(str::to_owned).collect()
}

#[test]
fn it_is_asked_a_thousand_times() {
    let Some(ran) = ran("thousand", Some(TABLE), &[]) else { return };
    let said = lines(&ran);
    assert_eq!(said[0], "log 3: Lightloom: 2 times for topology ring");
    // Tree is faster below (84 - 20) / (60 - 22) MiB. By NCCL's own times, which the program makes up, LL is the fastest
    // protocol of a ring; the table names Simple for trees.
    let border = (64.0 / 38.0 * f64::from(1 << 20)) as u64;
    assert_eq!(said.len(), 1 + 1000 + 1);
    for line in &said[1..=1000] {
        let numbers: Vec<u64> = line.split(' ').map(|cell| cell.parse().expect("a number")).collect();
        let wanted = if numbers[0] <= border { [0, 2, 0] } else { [1, 0, 0] };
        assert_eq!(numbers[1..], wanted, "{line}");
    }
    assert_eq!(said[1001], "not in the table: 0 of 3 changed");
}

#[test]
fn the_topology_that_is_up_decides() {
    let Some(ran) = ran("mesh", Some(TABLE), &[("LIGHTLOOM_TUNER_TOPOLOGY", "mesh")]) else { return };
    let said = lines(&ran);
    assert!(said[1..=1000].iter().all(|line| line.ends_with(" 0 1 2")), "{}", said[1]);
}

#[test]
fn a_table_that_is_missing_or_wrong_is_one_warning_and_nccl_tunes_by_itself() {
    let Some(none) = ran("missing", None, &[]) else { return };
    assert_eq!(none.status.code(), Some(4));
    assert_eq!(
        String::from_utf8_lossy(&none.stdout),
        "log 2: Lightloom: LIGHTLOOM_TUNER_TABLE: missing; it names the table\n"
    );
    let wrong = ran("wrong", Some("ring"), &[]).expect("a compiler");
    assert_eq!(wrong.status.code(), Some(4));
    let said = String::from_utf8_lossy(&wrong.stdout).into_owned();
    assert!(said.ends_with(": line 1: it is not `lightloom-nccl-tuner 1`\n") && said.lines().count() == 1, "{said}");
}
