//! Loading of the runtime library without panics.

use std::panic::{self, AssertUnwindSafe};
use std::path::Path;

use crate::EmbedError;

/// Checks that the prebuilt runtime can run on this CPU. On x86-64, the runtime uses AVX2 without checking for it.
///
/// # Errors
/// Returns [`EmbedError::Processor`], which names the missing instruction set.
pub fn check_processor() -> Result<(), EmbedError> {
    #[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
    {
        if !std::is_x86_feature_detected!("avx") {
            return Err(EmbedError::Processor("AVX"));
        }
        if !std::is_x86_feature_detected!("avx2") {
            return Err(EmbedError::Processor("AVX2"));
        }
    }
    Ok(())
}

/// Loads the library once per process. If a later call gives another path, the first library remains in use.
pub(super) fn load(library: &Path) -> Result<(), EmbedError> {
    check_processor()?;
    let failed = |reason: String| EmbedError::Runtime {
        path: library.into(),
        reason,
    };
    // With a relative path, the loader would search beside the executable and in system folders.
    let library = std::path::absolute(library).map_err(|e| failed(e.to_string()))?;
    if !library.is_file() {
        return Err(failed("no such file".into()));
    }
    no_panic(|| {
        ort::init_from(&library)
            .map(|_environment| ())
            .map_err(|e| e.to_string())
    })
    .and_then(|result| result)
    .map_err(failed)
}

/// Runs `work` and catches panics, because the binding panics if the file is not an ONNX Runtime library.
pub(super) fn no_panic<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    panic::catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        text.or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("the runtime panicked")
            .to_owned()
    })
}
