-- Tables of the team's memory. One partition for each team, so that each team has its own vector index.

CREATE TABLE teams (
    name text PRIMARY KEY CHECK (name ~ '^[a-z][a-z0-9_]{0,31}$')
);

-- All keys contain the author. Otherwise, a writer could occupy the key of another login's row, and so block its
-- publication. The checks limit what a search reads into memory.
CREATE TABLE devices (
    team   text NOT NULL REFERENCES teams,
    key    bytea NOT NULL CHECK (length(key) = 32),
    name   text NOT NULL CHECK (length(name) <= 255),
    author name NOT NULL DEFAULT current_user,
    PRIMARY KEY (team, key, author)
);

-- A removed document stays as a tombstone without passages.
CREATE TABLE documents (
    team         text NOT NULL,
    id           bigint GENERATED ALWAYS AS IDENTITY,
    device       bytea NOT NULL,
    workspace    text NOT NULL CHECK (length(workspace) <= 64),
    workspace_name text NOT NULL CHECK (length(workspace_name) <= 255),
    path         text NOT NULL CHECK (length(path) <= 4096),
    digest       bytea NOT NULL,
    removed      boolean NOT NULL DEFAULT false,
    published_at timestamptz NOT NULL DEFAULT now(),
    author       name NOT NULL DEFAULT current_user,
    PRIMARY KEY (team, id),
    UNIQUE (team, author, device, workspace, path)
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
    heading   text[] CHECK (array_ndims(heading) = 1 AND array_position(heading, NULL) IS NULL
                            AND length(array_to_string(heading, '')) <= 65536),
    day       text CHECK (length(day) <= 10),
    speaker   text NOT NULL CHECK (length(speaker) <= 16),
    text      text NOT NULL CHECK (length(text) <= 65536),
    -- The terms that hippod's own index contains, not those of a PostgreSQL dictionary.
    words     tsvector NOT NULL,
    terms     integer NOT NULL,
    model     text,
    vector    halfvec(384),
    signature bytea NOT NULL,
    author    name NOT NULL DEFAULT current_user,
    PRIMARY KEY (team, id),
    UNIQUE (team, document, hash, nth, author),
    FOREIGN KEY (team, document) REFERENCES documents (team, id) ON DELETE CASCADE
) PARTITION BY LIST (team);
CREATE INDEX ON passages USING gin (words) WITH (fastupdate = off);
CREATE INDEX ON passages USING hnsw (vector halfvec_cosine_ops) WITH (m = 16, ef_construction = 64);
