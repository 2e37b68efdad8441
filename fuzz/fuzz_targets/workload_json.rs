//! Any text is a workload or one line of refusal; what is read survives writing.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match formats::workload_from_json(text) {
        Ok(read) => {
            let written = formats::workload_to_json(&read);
            assert_eq!(formats::workload_from_json(&written).expect("what was written reads back"), read);
        }
        Err(error) => assert!(!error.to_string().contains('\n')),
    }
});
