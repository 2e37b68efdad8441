//! The header is what cbindgen makes of the functions today; `LIGHTLOOM_WRITE_HEADER=1` writes it.

use std::fs;
use std::path::Path;

#[test]
fn the_header_is_up_to_date() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let settings = cbindgen::Config::from_file(folder.join("cbindgen.toml")).expect("settings");
    let made = cbindgen::Builder::new().with_crate(folder).with_config(settings).generate().expect("a header");
    let mut text = Vec::new();
    made.write(&mut text);
    let (path, text) = (folder.join("include/lightloom_gate.h"), String::from_utf8(text).expect("text"));
    if std::env::var_os("LIGHTLOOM_WRITE_HEADER").is_some() {
        fs::write(&path, &text).expect("the header is written");
    }
    let kept = fs::read_to_string(&path).expect("the header is there");
    assert_eq!(kept, text, "run: make c-header");
}
