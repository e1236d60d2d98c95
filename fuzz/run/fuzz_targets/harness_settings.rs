//! libFuzzer target for `hippo_fuzz::harness_settings`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hippo_fuzz::harness_settings(data));
