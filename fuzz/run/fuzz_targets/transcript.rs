//! libFuzzer target for `hippo_fuzz::transcript`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hippo_fuzz::transcript(data));
