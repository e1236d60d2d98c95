//! End-to-end scenarios through the socket.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

#[cfg(feature = "onnx")]
#[allow(dead_code, reason = "the tests of hippo-embed use all of it")]
#[path = "../crates/hippo-embed/tests/folder/fixture.rs"]
mod folder;

#[cfg(feature = "onnx")]
#[allow(dead_code, reason = "the tests of hippo-embed use all of it")]
#[path = "../crates/hippo-embed/tests/acquire/server.rs"]
mod server;

#[path = "e2e/any_folder.rs"]
mod any_folder;
#[path = "e2e/away.rs"]
mod away;
#[path = "e2e/backup.rs"]
mod backup;
#[path = "e2e/backup_crash.rs"]
mod backup_crash;
#[path = "e2e/backup_foreign.rs"]
mod backup_foreign;
#[path = "e2e/backup_left.rs"]
mod backup_left;
#[path = "e2e/backup_odd.rs"]
mod backup_odd;
#[path = "e2e/backup_places.rs"]
mod backup_places;
#[path = "e2e/cited_names.rs"]
mod cited_names;
#[path = "e2e/clients.rs"]
mod clients;
#[path = "e2e/contexts.rs"]
mod contexts;
#[path = "e2e/contexts_again.rs"]
mod contexts_again;
#[path = "e2e/contexts_earlier.rs"]
mod contexts_earlier;
#[path = "e2e/contexts_files.rs"]
mod contexts_files;
#[path = "e2e/contexts_later.rs"]
mod contexts_later;
#[path = "e2e/contexts_odd.rs"]
mod contexts_odd;
#[path = "e2e/crash.rs"]
mod crash;
#[path = "e2e/cut.rs"]
mod cut;
#[path = "e2e/cycles.rs"]
mod cycles;
#[path = "e2e/damage.rs"]
mod damage;
#[path = "e2e/damaged_rows.rs"]
mod damaged_rows;
#[path = "e2e/dated_questions.rs"]
mod dated_questions;
#[cfg(feature = "onnx")]
#[path = "e2e/demo.rs"]
mod demo;
#[path = "e2e/derived_values.rs"]
mod derived_values;
#[path = "e2e/documents.rs"]
mod documents;
#[path = "e2e/edits.rs"]
mod edits;
#[path = "e2e/flush.rs"]
mod flush;
#[path = "e2e/flush_again.rs"]
mod flush_again;
#[path = "e2e/fresh_answers.rs"]
mod fresh_answers;
#[path = "e2e/given_up.rs"]
mod given_up;
#[path = "e2e/harness.rs"]
mod harness;
#[path = "e2e/hook_results.rs"]
mod hook_results;
#[path = "e2e/hooks.rs"]
mod hooks;
#[path = "e2e/hostile_folder.rs"]
mod hostile_folder;
#[path = "e2e/hostile_links.rs"]
mod hostile_links;
#[path = "e2e/hostile_text.rs"]
mod hostile_text;
#[path = "e2e/import.rs"]
mod import;
#[path = "e2e/import_crash.rs"]
mod import_crash;
#[path = "e2e/import_odd.rs"]
mod import_odd;
#[path = "e2e/index_crash.rs"]
mod index_crash;
#[path = "e2e/index_file.rs"]
mod index_file;
#[path = "e2e/index_held.rs"]
mod index_held;
#[path = "e2e/index_odd.rs"]
mod index_odd;
#[path = "e2e/index_recall.rs"]
mod index_recall;
#[path = "e2e/index_recovery.rs"]
mod index_recovery;
#[path = "e2e/index_renames.rs"]
mod index_renames;
#[path = "e2e/index_return.rs"]
mod index_return;
#[path = "e2e/index_room.rs"]
mod index_room;
#[path = "e2e/index_versions.rs"]
mod index_versions;
#[path = "e2e/index_words.rs"]
mod index_words;
#[path = "e2e/index_writers.rs"]
mod index_writers;
#[path = "e2e/instance.rs"]
mod instance;
#[path = "e2e/junk.rs"]
mod junk;
#[path = "e2e/light.rs"]
mod light;
#[path = "e2e/limits.rs"]
mod limits;
#[path = "e2e/live_search.rs"]
mod live_search;
#[path = "e2e/live_top.rs"]
mod live_top;
#[path = "e2e/local_shares.rs"]
mod local_shares;
#[path = "e2e/local_shares_machine.rs"]
mod local_shares_machine;
#[path = "e2e/local_shares_odd.rs"]
mod local_shares_odd;
#[path = "e2e/local_shares_places.rs"]
mod local_shares_places;
#[path = "e2e/machines.rs"]
mod machines;
#[path = "e2e/machines_copies.rs"]
mod machines_copies;
#[path = "e2e/mcp.rs"]
mod mcp;
#[path = "e2e/mcp_edit.rs"]
mod mcp_edit;
#[path = "e2e/mcp_places.rs"]
mod mcp_places;
#[path = "e2e/mcp_shapes.rs"]
mod mcp_shapes;
#[path = "e2e/mcp_waiting.rs"]
mod mcp_waiting;
#[cfg(feature = "onnx")]
#[path = "e2e/model.rs"]
mod model;
#[cfg(feature = "onnx")]
#[path = "e2e/model_brought.rs"]
mod model_brought;
#[cfg(feature = "onnx")]
#[path = "e2e/model_compared.rs"]
mod model_compared;
#[cfg(feature = "onnx")]
#[path = "e2e/model_copied.rs"]
mod model_copied;
#[cfg(feature = "onnx")]
#[path = "e2e/model_pulled.rs"]
mod model_pulled;
#[path = "e2e/names.rs"]
mod names;
#[cfg(feature = "onnx")]
#[path = "e2e/near_duplicates.rs"]
mod near_duplicates;
#[path = "e2e/opencode.rs"]
mod opencode;
#[path = "e2e/operations.rs"]
mod operations;
#[cfg(feature = "onnx")]
#[path = "e2e/pictures.rs"]
mod pictures;
#[path = "e2e/poisoned.rs"]
mod poisoned;
#[path = "e2e/promises.rs"]
mod promises;
#[path = "e2e/prompt.rs"]
mod prompt;
mod protocol_transcript;
#[cfg(feature = "onnx")]
#[path = "e2e/recall.rs"]
mod recall;
#[path = "e2e/remembering.rs"]
mod remembering;
#[path = "e2e/schedule.rs"]
mod schedule;
#[path = "e2e/scope_edges.rs"]
mod scope_edges;
#[path = "e2e/scope_laws.rs"]
mod scope_laws;
#[path = "e2e/scopes.rs"]
mod scopes;
#[path = "e2e/search.rs"]
mod search;
#[path = "e2e/secrets.rs"]
mod secrets;
#[path = "e2e/service.rs"]
mod service;
#[path = "e2e/service_doctor.rs"]
mod service_doctor;
#[path = "e2e/service_files.rs"]
mod service_files;
#[path = "e2e/service_paths.rs"]
mod service_paths;
#[path = "e2e/service_systemd.rs"]
mod service_systemd;
#[path = "e2e/session_pages.rs"]
mod session_pages;
#[path = "e2e/settings.rs"]
mod settings;
#[path = "e2e/share_outages.rs"]
mod share_outages;
#[path = "e2e/share_rights.rs"]
mod share_rights;
#[path = "e2e/share_team.rs"]
mod share_team;
#[path = "e2e/share_tls.rs"]
mod share_tls;
#[path = "e2e/stalls.rs"]
mod stalls;
#[path = "e2e/starved.rs"]
mod starved;
#[path = "e2e/status_tree.rs"]
mod status_tree;
#[path = "e2e/store_refuses.rs"]
mod store_refuses;
#[path = "e2e/superseded.rs"]
mod superseded;
#[path = "e2e/surroundings.rs"]
mod surroundings;
#[path = "e2e/taken_away.rs"]
mod taken_away;
#[path = "e2e/tree.rs"]
mod tree;
#[path = "e2e/tree_days.rs"]
mod tree_days;
#[path = "e2e/tree_foreign.rs"]
mod tree_foreign;
#[path = "e2e/tree_others.rs"]
mod tree_others;
#[path = "e2e/undo.rs"]
mod undo;
#[path = "e2e/vault.rs"]
mod vault;
#[path = "e2e/why.rs"]
mod why;
