//! libFuzzer target for `hippo_fuzz::markdown`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hippo_fuzz::markdown(data));
