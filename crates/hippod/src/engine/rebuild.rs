//! Deletion of derived state for `doctor --rebuild`.

use std::path::Path;

use anyhow::Result;

use hippo_proto::RpcError;
use hippo_store::StoreError;
use hippo_store::db::{Store, salvage};
use hippo_store::in_place::Replacement;

use crate::errors::store_error;
use crate::message::LostData;
use crate::registry;

/// Deletes all derived data of a closed workspace, so that it is indexed again. An undamaged database keeps its
/// vectors, because a vector depends only on its text and the model. A damaged database is renamed and replaced.
/// Returns a description of the data that existed only in the damaged database and could not be read; `None` if nothing
/// was lost.
///
/// # Errors
/// Fails if the database can be neither cleared nor replaced.
pub(super) fn rebuild(state: &Path, root: &Path) -> Result<Option<LostData>, RpcError> {
    empty(state, root).map_err(|error| match error.downcast_ref::<StoreError>() {
        Some(error) => store_error(error),
        None => RpcError::internal(format!("{error:#}")),
    })
}

#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
fn empty(state: &Path, root: &Path) -> Result<Option<LostData>> {
    let file = registry::database_file(state, root);
    let emptied = Store::open(&file, &root.to_string_lossy()).and_then(|mut store| {
        store
            .check()
            .and_then(|()| store.mend())
            .and_then(|_| store.clear())
    });
    let lost = match emptied {
        Ok(()) => None,
        Err(error) if error.needs_rebuild() || !file.is_file() => {
            tracing::warn!(%error, "rebuilding the database; the damaged database is kept in the same folder");
            replace(&file, root)?
        }
        // The database itself is undamaged, but another problem, such as a full disk, prevents the write.
        Err(error) => return Err(error.into()),
    };
    Ok(lost)
}

/// Replaces a damaged database with a new one, which contains the readable data that no file contains, such as the
/// entries with their accesses, removals and runs. The damaged database is renamed once the new one is complete.
fn replace(file: &Path, root: &Path) -> Result<Option<LostData>> {
    let draft = Replacement::Rebuilt.draft(file)?;
    let salvaged = salvage(file, &draft, &root.to_string_lossy())?;
    tracing::info!(
        rows = salvaged.rows,
        lost = salvaged.lost.len(),
        "copied the records that no file contains from the damaged database"
    );
    let aside = Replacement::Rebuilt.settle(&draft, file)?;
    Ok((!salvaged.lost.is_empty()).then(|| LostData {
        what: salvaged.lost,
        aside: aside.unwrap_or_else(|| file.to_path_buf()),
    }))
}
