//! libFuzzer target for `hippo_fuzz::request`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hippo_fuzz::request(data));
