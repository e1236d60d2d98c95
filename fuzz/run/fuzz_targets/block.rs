//! libFuzzer target for `hippo_fuzz::block`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hippo_fuzz::block(data));
