//! How do the entries of an export become those of a database?

use std::path::Path;

use super::Store;
use crate::StoreError;
use crate::copies::{Database, take_in};

/// Makes a database of the tables in `folder`, all of them or none.
pub(crate) fn import(folder: &Path, file: &Path, root: &str) -> Result<(), StoreError> {
    let store = Store::open(file, root)?;
    let change = store.sql(store.connection.unchecked_transaction())?;
    for table in Database::Index.tables() {
        take_in(&change, folder, table)?;
    }
    store.sql(change.commit())
}
