//! Any text is what switches are told or one line of refusal; what is read survives writing.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match formats::circuits_from_json(text) {
        Ok(circuits) => {
            let written = formats::circuits_to_json(&circuits);
            assert_eq!(formats::circuits_from_json(&written).expect("what was written reads back"), circuits);
        }
        Err(error) => assert!(!error.to_string().contains('\n')),
    }
});
