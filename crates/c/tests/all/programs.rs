//! C programs compiled against the header and the library, plain and under a checker of memory.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// The folder where cargo puts the shared library next to this test.
fn libraries() -> PathBuf {
    let folder = std::env::current_exe().expect("this test").parent().expect("its folder").to_path_buf();
    assert!(folder.join("liblightloom_c.so").exists(), "there is no liblightloom_c.so in {}", folder.display());
    folder
}

/// Whether the command is there; the reason for not testing is printed where it is not.
fn is_there(command: &str) -> bool {
    let found = Command::new(command).arg("--version").output().is_ok_and(|ran| ran.status.success());
    if !found {
        eprintln!("skipped: there is no {command}");
    }
    found
}

fn succeeded(mut command: Command) -> Output {
    let ran = command.output().expect("the command starts");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{command:?}: {}\n{said}", ran.status);
    ran
}

/// The program that a compiler makes of the source, linked with the shared library.
fn compiled(source: &Path, name: &str, flags: &[&str]) -> PathBuf {
    let (libraries, made) = (libraries(), Path::new(env!("CARGO_TARGET_TMPDIR")).join(name));
    // The library's own name is that under which it is installed.
    let link = Path::new(env!("CARGO_TARGET_TMPDIR")).join("liblightloom.so.1");
    std::os::unix::fs::symlink(libraries.join("liblightloom_c.so"), &link)
        .or_else(|error| if error.kind() == std::io::ErrorKind::AlreadyExists { Ok(()) } else { Err(error) })
        .expect("a link");
    let mut compile = Command::new("cc");
    compile.args(["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-g"]).args(flags);
    compile.arg("-I").arg(root().join("crates/c/include")).arg(source).arg("-o").arg(&made);
    compile.arg("-L").arg(&libraries).args(["-llightloom_c", "-lpthread"]);
    compile.arg(format!("-Wl,-rpath,{}", env!("CARGO_TARGET_TMPDIR")));
    succeeded(compile);
    made
}

fn example(flags: &[&str], name: &str) -> PathBuf {
    compiled(&root().join("examples/c/plan.c"), name, flags)
}

#[test]
fn the_example_prints_what_its_page_says_and_is_on_it() {
    if !is_there("cc") {
        return;
    }
    let ran = succeeded(Command::new(example(&[], "plan")));
    let page = std::fs::read_to_string(root().join("docs/how-to/plan-from-c.md")).expect("the page");
    let block = |language: &str| {
        let (_, rest) = page.split_once(&format!("```{language}\n")).expect("a block");
        rest.split_once("```").expect("its end").0.to_string()
    };
    assert_eq!(block("text"), String::from_utf8_lossy(&ran.stdout));
    let source = std::fs::read_to_string(root().join("examples/c/plan.c")).expect("the example");
    for part in block("c").split("\n\n") {
        assert!(source.contains(part.trim_end()), "this is not in the example:\n{part}");
    }
}

#[test]
fn wrong_arguments_of_the_example_end_it_with_one_line() {
    if !is_there("cc") {
        return;
    }
    let ran = Command::new(example(&[], "plan-wrong")).arg("1").output().expect("it starts");
    assert_eq!(ran.status.code(), Some(2));
    assert!(ran.stdout.is_empty());
    assert!(String::from_utf8_lossy(&ran.stderr).starts_with("error: gpus: `1` is not accepted"));
}

#[test]
fn careless_programs_are_answered() {
    if is_there("cc") {
        succeeded(Command::new(compiled(&root().join("crates/c/tests/all/misuse.c"), "misuse", &[])));
    }
}

#[test]
fn careless_programs_leak_and_overrun_nothing() {
    if !is_there("cc") {
        return;
    }
    // Both the program and the library use C's allocator, which the sanitizer watches.
    let flags = ["-fsanitize=address,undefined", "-fno-omit-frame-pointer"];
    let misuse = compiled(&root().join("crates/c/tests/all/misuse.c"), "misuse-sanitized", &flags);
    let mut run = Command::new(misuse);
    run.env("ASAN_OPTIONS", "detect_leaks=1:abort_on_error=0");
    succeeded(run);
}

#[test]
#[ignore = "large: make test-large"]
fn the_example_is_clean_under_valgrind() {
    if !is_there("cc") || !is_there("valgrind") {
        return;
    }
    let mut run = Command::new("valgrind");
    run.args(["--quiet", "--error-exitcode=9", "--leak-check=full", "--show-leak-kinds=definite"]);
    run.args(["--errors-for-leak-kinds=definite"]);
    run.arg(example(&[], "plan-checked")).args(["4", "65536"]).env("RAYON_NUM_THREADS", "1");
    succeeded(run);
}
