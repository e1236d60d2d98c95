//! libFuzzer target for `hippo_fuzz::entry`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hippo_fuzz::entry(data));
