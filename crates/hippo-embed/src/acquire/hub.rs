//! Download of one file from the model hub, after the package index has failed.

use std::path::Path;

use hf_hub::api::sync::ApiBuilder;

use super::extract::copy;
use super::{AcquireError, ManifestFile};

/// Downloads a file of a repository through the hub's own cache in `cache`, checks it and installs it.
pub(super) fn fetch(
    repository: &str,
    file: &ManifestFile,
    cache: &Path,
    folder: &Path,
) -> Result<(), AcquireError> {
    let failed = |e: hf_hub::api::sync::ApiError| AcquireError::Download {
        package: repository.into(),
        message: e.to_string(),
    };
    let api = ApiBuilder::new()
        .with_cache_dir(cache.join("hub"))
        .with_progress(false)
        .build()
        .map_err(failed)?;
    let fetched = api.model(repository.to_owned()).get(&file.name).map_err(failed)?;
    copy(&fetched, file, folder)
}
