//! libFuzzer target for `hippo_fuzz::imports`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hippo_fuzz::imports(data));
