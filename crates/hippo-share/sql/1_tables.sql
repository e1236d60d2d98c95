-- Tables of the team's memory. One partition for each team, so that each team has its own vector index.

CREATE TABLE teams (
    name text PRIMARY KEY CHECK (name ~ '^[a-z][a-z0-9_]{0,31}$')
);

CREATE TABLE devices (
    team   text NOT NULL REFERENCES teams,
    key    bytea NOT NULL CHECK (length(key) = 32),
    name   text NOT NULL,
    author name NOT NULL DEFAULT current_user,
    PRIMARY KEY (team, key)
);

-- A removed document stays as a tombstone without passages.
CREATE TABLE documents (
    team         text NOT NULL,
    id           bigint GENERATED ALWAYS AS IDENTITY,
    device       bytea NOT NULL,
    workspace    text NOT NULL,
    workspace_name text NOT NULL,
    path         text NOT NULL,
    digest       bytea NOT NULL,
    removed      boolean NOT NULL DEFAULT false,
    published_at timestamptz NOT NULL DEFAULT now(),
    author       name NOT NULL DEFAULT current_user,
    PRIMARY KEY (team, id),
    UNIQUE (team, device, workspace, path)
) PARTITION BY LIST (team);

CREATE TABLE passages (
    team      text NOT NULL,
    id        bigint GENERATED ALWAYS AS IDENTITY,
    document  bigint NOT NULL,
    -- Hash of the device and the workspace. A search leaves out its own workspace.
    source    bigint NOT NULL,
    -- The first 128 bits of the BLAKE3 hash of the text, and the number of earlier passages of the document with this
    -- hash.
    hash      bytea NOT NULL,
    nth       integer NOT NULL,
    first_line integer NOT NULL,
    last_line integer NOT NULL,
    heading   text[],
    day       text,
    speaker   text NOT NULL,
    text      text NOT NULL,
    -- The terms that hippod's own index contains, not those of a PostgreSQL dictionary.
    words     tsvector NOT NULL,
    terms     integer NOT NULL,
    model     text,
    vector    halfvec(384),
    signature bytea NOT NULL,
    author    name NOT NULL DEFAULT current_user,
    PRIMARY KEY (team, id),
    UNIQUE (team, document, hash, nth),
    FOREIGN KEY (team, document) REFERENCES documents (team, id) ON DELETE CASCADE
) PARTITION BY LIST (team);
CREATE INDEX ON passages USING gin (words) WITH (fastupdate = off);
CREATE INDEX ON passages USING hnsw (vector halfvec_cosine_ops) WITH (m = 16, ef_construction = 64);
