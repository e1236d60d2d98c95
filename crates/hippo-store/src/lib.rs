//! hippo-store
