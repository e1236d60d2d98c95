//! libFuzzer target for `hippo_fuzz::trust`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hippo_fuzz::trust(data));
