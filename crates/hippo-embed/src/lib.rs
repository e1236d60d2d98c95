//! hippo-embed
