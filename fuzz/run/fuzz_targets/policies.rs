//! libFuzzer target for `hippo_fuzz::policies`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hippo_fuzz::policies(data));
