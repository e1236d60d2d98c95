//! Import of exported entries.

use std::path::Path;

use super::Store;
use crate::StoreError;
use crate::copies::{Database, take_in};

/// Creates a database from the exported tables in `folder`, all or nothing.
pub(crate) fn import(folder: &Path, file: &Path, root: &str) -> Result<(), StoreError> {
    let store = Store::open(file, root)?;
    let change = store.sql(store.connection.unchecked_transaction())?;
    for table in Database::Index.tables() {
        take_in(&change, folder, table)?;
    }
    store.sql(change.commit())
}
