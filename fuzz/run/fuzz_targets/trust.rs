//! Does hippo_fuzz::trust hold for what libFuzzer finds?
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hippo_fuzz::trust(data));
