-- Row-level security. The group roles of a team are hippod_TEAM_reader and hippod_TEAM_writer.

CREATE FUNCTION may(team text, kind text, login name DEFAULT current_user) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (
        SELECT 1 FROM pg_roles
        WHERE rolname = 'hippod_' || team || '_' || kind AND pg_has_role(login, oid, 'USAGE')
    )
$$;

ALTER TABLE teams ENABLE ROW LEVEL SECURITY;
ALTER TABLE teams FORCE ROW LEVEL SECURITY;
CREATE POLICY members ON teams FOR SELECT USING (may(name, 'reader'));
CREATE POLICY owner ON teams TO hippod_owner USING (true) WITH CHECK (true);

-- Only the function `search` reads as the owner, after it has checked the rights of the caller.
DO $$
DECLARE
    relation text;
BEGIN
    FOREACH relation IN ARRAY ARRAY['devices', 'documents', 'passages'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', relation);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', relation);
        EXECUTE format('CREATE POLICY readers ON %I FOR SELECT USING (may(team, ''reader''))', relation);
        EXECUTE format('CREATE POLICY inserts ON %I FOR INSERT WITH CHECK (may(team, ''writer'') AND author = current_user)', relation);
        EXECUTE format('CREATE POLICY updates ON %I FOR UPDATE USING (may(team, ''writer'') AND author = current_user)', relation);
        EXECUTE format('CREATE POLICY deletes ON %I FOR DELETE USING (may(team, ''writer'') AND author = current_user)', relation);
        EXECUTE format('CREATE POLICY owner ON %I TO hippod_owner USING (true) WITH CHECK (true)', relation);
    END LOOP;
END
$$;
