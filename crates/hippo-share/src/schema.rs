//! Tables, roles and migrations of the database.

use tokio_postgres::Client;

use crate::connect::connect_to_any;
use crate::{ServerSettings, ShareError};

/// The migrations, in order. A migration that was released never changes.
const MIGRATIONS: [&str; 3] = [
    include_str!("../sql/1_tables.sql"),
    include_str!("../sql/2_rights.sql"),
    include_str!("../sql/3_search.sql"),
];
/// Version of the tables that this build needs.
pub const VERSION: i32 = MIGRATIONS.len() as i32;
/// Key of the advisory lock that lets only one migration run.
const LOCK: i64 = 0x6869_7070_6f64;
/// Partitioned tables.
const PARTITIONED: [&str; 2] = ["documents", "passages"];

/// A team and its logins.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TeamPlan {
    /// Name of the team.
    pub team: String,
    /// Existing logins that may read and publish.
    pub writers: Vec<String>,
    /// Existing logins that may only read.
    pub readers: Vec<String>,
}

/// What [`init`] changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InitResult {
    /// Version of the tables before.
    pub from: i32,
    /// Version of the tables after.
    pub to: i32,
    /// True if the team was created.
    pub team_created: bool,
}

/// Checks the version of the tables. A login without any right sees no tables.
pub(crate) async fn check(client: &Client) -> Result<(), ShareError> {
    let found = version(client).await?;
    match found {
        VERSION => Ok(()),
        found => Err(ShareError::Schema {
            found,
            wanted: VERSION,
        }),
    }
}

async fn version(client: &Client) -> Result<i32, ShareError> {
    let exists = client
        .query_one("SELECT to_regclass('hippod.migrations') IS NOT NULL", &[])
        .await?;
    if !exists.get::<_, bool>(0) {
        return Ok(0);
    }
    let row = client
        .query_one("SELECT coalesce(max(version), 0) FROM hippod.migrations", &[])
        .await?;
    Ok(row.get(0))
}

/// Creates or migrates the tables, and creates a team with its roles. The login must be a superuser, because it installs
/// the extension and creates roles. Repeating the call changes nothing.
///
/// # Errors
/// Fails if the login has no rights, or if the server has no pgvector 0.8 or later.
pub async fn init(settings: &ServerSettings, plan: &TeamPlan) -> Result<InitResult, ShareError> {
    crate::check_team(&plan.team).map_err(|why| ShareError::Setting { key: "team", why })?;
    let mut connection = connect_to_any(settings).await?;
    let client = &mut connection.client;
    let transaction = client.transaction().await?;
    transaction
        .execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK])
        .await?;
    let from = version(transaction.client()).await?;
    if from > VERSION {
        return Err(ShareError::Schema {
            found: from,
            wanted: VERSION,
        });
    }
    if from == 0 {
        transaction.batch_execute(FRAME).await?;
    }
    transaction
        .batch_execute("SET LOCAL ROLE hippod_owner; SET LOCAL search_path = hippod, public")
        .await?;
    for (number, sql) in (1..).zip(MIGRATIONS).filter(|(number, _)| *number > from) {
        transaction.batch_execute(sql).await?;
        transaction
            .execute("INSERT INTO migrations (version) VALUES ($1)", &[&number])
            .await?;
    }
    let created = transaction
        .execute(
            "INSERT INTO teams (name) VALUES ($1) ON CONFLICT DO NOTHING",
            &[&plan.team],
        )
        .await?;
    if created > 0 {
        transaction.batch_execute(&make_partitions(&plan.team)).await?;
    }
    transaction.batch_execute("RESET ROLE").await?;
    transaction.batch_execute(&make_roles(&plan.team)).await?;
    for (kind, logins) in [("writer", &plan.writers), ("reader", &plan.readers)] {
        for login in logins {
            let grant = format!("GRANT hippod_{}_{kind} TO {}", plan.team, quote(login));
            transaction.batch_execute(&grant).await?;
        }
    }
    transaction.commit().await?;
    Ok(InitResult {
        from,
        to: VERSION,
        team_created: created > 0,
    })
}

/// Extension, owner and schema.
const FRAME: &str = "
CREATE EXTENSION IF NOT EXISTS vector;
DO $$
BEGIN
    IF (SELECT string_to_array(extversion, '.')::int[] FROM pg_extension WHERE extname = 'vector') < ARRAY[0, 8] THEN
        RAISE EXCEPTION 'hippod needs pgvector 0.8 or later';
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'hippod_owner') THEN
        CREATE ROLE hippod_owner NOLOGIN;
    END IF;
END
$$;
CREATE SCHEMA hippod AUTHORIZATION hippod_owner;
GRANT CREATE ON SCHEMA hippod TO hippod_owner;
SET LOCAL ROLE hippod_owner;
CREATE TABLE hippod.migrations (version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now());
RESET ROLE;
";

fn make_partitions(team: &str) -> String {
    // The policies of the parent do not protect a partition that is read by its own name.
    let one = |table: &&str| {
        format!(
            "CREATE TABLE {table}_{team} PARTITION OF {table} FOR VALUES IN ('{team}');\n\
             ALTER TABLE {table}_{team} ENABLE ROW LEVEL SECURITY;\n"
        )
    };
    PARTITIONED.iter().map(one).collect()
}

fn make_roles(team: &str) -> String {
    let (reader, writer) = (format!("hippod_{team}_reader"), format!("hippod_{team}_writer"));
    let make = |role: &str| {
        format!(
            "IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{role}') THEN CREATE ROLE {role} NOLOGIN; END IF;"
        )
    };
    let tables = "hippod.devices, hippod.documents, hippod.passages";
    format!(
        "DO $$ BEGIN {} {} END $$;
         GRANT {reader} TO {writer};
         GRANT USAGE ON SCHEMA hippod TO {reader};
         GRANT SELECT ON hippod.migrations, hippod.teams, {tables} TO {reader};
         GRANT EXECUTE ON FUNCTION hippod.search TO {reader};
         GRANT INSERT, UPDATE, DELETE ON {tables} TO {writer};",
        make(&reader),
        make(&writer),
    )
}

/// Quotes an identifier.
fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
