//! The name under which programs that were linked with the library look for it: it changes with the interface.

fn main() {
    let is_elf = std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux");
    if is_elf {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,liblightloom_gate.so.1");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
