//! Any text is a fabric of the C library, as JSON and as options, or one line that names what is wrong.
#![no_main]

use std::ffi::{CStr, CString, c_char};
use std::ptr::null_mut;

use libfuzzer_sys::fuzz_target;
// Its functions are called as C does.
use lightloom_c as _;

const DONE: i32 = 0;
const WRONG_INPUT: i32 = 2;

#[repr(C)]
struct LightloomError {
    field: [c_char; 64],
    message: [c_char; 1024],
}

#[repr(C)]
struct LightloomOption {
    name: *const c_char,
    value: *const c_char,
}

enum LightloomFabric {}

unsafe extern "C" {
    fn lightloom_fabric_new(
        options: *const c_char,
        most_kept: usize,
        fabric: *mut *mut LightloomFabric,
        error: *mut LightloomError,
    ) -> i32;
    fn lightloom_fabric_of_options(
        options: *const LightloomOption,
        count: usize,
        most_kept: usize,
        fabric: *mut *mut LightloomFabric,
        error: *mut LightloomError,
    ) -> i32;
    fn lightloom_fabric_free(fabric: *mut LightloomFabric);
}

fn judge(call: impl FnOnce(*mut *mut LightloomFabric, *mut LightloomError) -> i32) {
    let mut fabric = null_mut();
    let mut error = LightloomError { field: [1; 64], message: [1; 1024] };
    match call(&raw mut fabric, &raw mut error) {
        DONE => assert!(!fabric.is_null()),
        status => {
            let text = |bytes: &[c_char]| {
                let bytes: Vec<u8> = bytes.iter().map(|byte| byte.cast_unsigned()).collect();
                CStr::from_bytes_until_nul(&bytes).expect("it ends with a zero").to_str().expect("UTF-8").to_string()
            };
            assert_eq!(status, WRONG_INPUT, "{}", text(&error.message));
            assert!(fabric.is_null());
            assert!(!text(&error.field).is_empty());
            assert!(!text(&error.message).chars().any(char::is_control));
        }
    }
    // SAFETY: it is null or came from the library, and is used no more.
    unsafe { lightloom_fabric_free(fabric) };
}

fuzz_target!(|bytes: &[u8]| {
    let text = CString::new(bytes.split(|byte| *byte == 0).next().unwrap_or_default()).expect("no zero");
    // SAFETY: the text ends with a zero, and the places are there.
    judge(|fabric, error| unsafe { lightloom_fabric_new(text.as_ptr(), 0, fabric, error) });

    // The same bytes as lines of `name=value`; one without a value has none at all.
    let pairs: Vec<(CString, Option<CString>)> = text
        .as_bytes()
        .split(|byte| *byte == b'\n')
        .map(|line| match line.iter().position(|byte| *byte == b'=') {
            Some(at) => (CString::new(&line[..at]).expect("no zero"), CString::new(&line[at + 1..]).ok()),
            None => (CString::new(line).expect("no zero"), None),
        })
        .collect();
    let options: Vec<LightloomOption> = pairs
        .iter()
        .map(|(name, value)| LightloomOption {
            name: name.as_ptr(),
            value: value.as_ref().map_or(std::ptr::null(), |value| value.as_ptr()),
        })
        .collect();
    // SAFETY: there are this many options, whose texts end with zeros, and the places are there.
    judge(|fabric, error| unsafe {
        lightloom_fabric_of_options(options.as_ptr(), options.len(), 0, fabric, error)
    });
});
