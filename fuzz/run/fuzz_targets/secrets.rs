//! libFuzzer target for `hippo_fuzz::secrets`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hippo_fuzz::secrets(data));
