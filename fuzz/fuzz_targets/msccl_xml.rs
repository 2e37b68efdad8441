//! Any text is a schedule or one line of refusal; a schedule is judged without panic.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match formats::schedule_from_msccl(text) {
        Ok(schedule) => drop(verify::schedule(&schedule)),
        Err(error) => assert!(!error.to_string().contains('\n')),
    }
});
