//! hippo-proto
