//! The functions of the library. Each checks what it is given, calls what is safe, and says how it went.
#![allow(unsafe_code, clippy::missing_safety_doc, reason = "the header's first lines say what callers promise")]

mod fabric;
mod plan;
mod steps;
mod version;
