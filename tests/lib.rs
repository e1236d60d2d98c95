//! What the scenarios share: a daemon in a scratch folder, and a client of it.
