//! Any text is a planned training iteration or one line of refusal; what is read survives writing.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match formats::training_from_json(text) {
        Ok(read) => {
            let written = formats::training_to_json(&read);
            assert_eq!(formats::training_from_json(&written).expect("what was written reads back"), read);
        }
        Err(error) => assert!(!error.to_string().contains('\n')),
    }
});
