//! Versions of the library.

use std::ffi::c_char;

/// The number of the interface, which changes whenever a program must be compiled anew.
pub const LIGHTLOOM_ABI_VERSION: u32 = 2;

/// `LIGHTLOOM_ABI_VERSION` of the library: a program compares it with the one that it was compiled with.
#[unsafe(no_mangle)]
pub extern "C" fn lightloom_abi_version() -> u32 {
    LIGHTLOOM_ABI_VERSION
}

/// The version of Lightloom, such as `0.1.0`; it is never freed.
#[unsafe(no_mangle)]
pub extern "C" fn lightloom_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}
