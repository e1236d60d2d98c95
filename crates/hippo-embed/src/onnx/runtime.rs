//! How the runtime library is loaded without risking the process.

use std::panic::{self, AssertUnwindSafe};
use std::path::Path;

use crate::EmbedError;

/// Whether the prebuilt runtime can run here. It uses AVX2 on x86-64 without asking.
///
/// # Errors
/// [`EmbedError::Processor`] names what is missing.
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

/// Loads the library. Once per process: a later call with another path keeps the first library.
pub(super) fn load(library: &Path) -> Result<(), EmbedError> {
    check_processor()?;
    let failed = |reason: String| EmbedError::Runtime {
        path: library.into(),
        reason,
    };
    // The loader looks a relative path up beside the executable and in system folders.
    let library = std::path::absolute(library).map_err(|e| failed(e.to_string()))?;
    if !library.is_file() {
        return Err(failed("there is no such file".into()));
    }
    no_panic(|| {
        ort::init_from(&library)
            .map(|_environment| ())
            .map_err(|e| e.to_string())
    })
    .and_then(|result| result)
    .map_err(failed)
}

/// The binding panics where a library is not what it takes it for.
pub(super) fn no_panic<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    panic::catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        text.or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("the runtime panicked")
            .to_owned()
    })
}
