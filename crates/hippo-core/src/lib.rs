//! hippo-core
