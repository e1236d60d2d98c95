//! Selection of the sentences and phrases that matter in a text.

pub mod alone;
pub mod headings;
pub mod label;
pub mod line;
pub mod machine;
pub mod phrases;
pub mod sentence;
pub mod summary;
pub mod table;
pub mod words;
