//! libFuzzer target for `hippo_fuzz::compaction_config`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hippo_fuzz::compaction_config(data));
