//! Gates on the tree itself.
