//! hippod
