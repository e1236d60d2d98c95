//! libFuzzer target for `hippo_fuzz::index`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hippo_fuzz::index(data));
