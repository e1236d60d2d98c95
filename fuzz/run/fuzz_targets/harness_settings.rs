//! Does hippo_fuzz::harness_settings hold for what libFuzzer finds?
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hippo_fuzz::harness_settings(data));
