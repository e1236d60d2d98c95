//! libFuzzer target for `hippo_fuzz::extraction`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hippo_fuzz::extraction(data));
