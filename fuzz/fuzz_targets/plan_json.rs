//! Any text is a plan or one line of refusal; a plan is judged without panic and survives writing.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match formats::plan_from_json(text) {
        Ok(plan) => {
            let written = formats::plan_to_json(&plan);
            let again = formats::plan_from_json(&written).expect("what was written reads back");
            assert_eq!(formats::plan_to_json(&again), written);
            let _ = lightloom::verify_plan(&plan);
        }
        Err(error) => assert!(!error.to_string().contains('\n')),
    }
});
