-- A query for one term.
CREATE FUNCTION quote_term(term text) RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT ('''' || replace(replace(term, '\', '\\'), '''', '''''') || '''')::tsquery
$$;

-- Candidates of a search, by words and by vector.
--
-- PostgreSQL does not use a GIN index together with row-level security, because its operators are not leakproof.
-- Therefore this function runs as the owner, checks the rights of the login itself, and returns only ids and distances.
-- The caller reads the texts under row-level security.
CREATE FUNCTION search(
    of_team text, by_words text[], by_vector halfvec, by_model text, own_source bigint, most integer
) RETURNS TABLE (passage bigint, distance real, total real, frequencies real[])
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 100
SET search_path = pg_catalog, hippod, public, pg_temp
SET hnsw.ef_search = 200
SET hnsw.iterative_scan = relaxed_order
SET jit = off
AS $$
DECLARE
    -- Maximum number of passages that are ranked by words.
    bound CONSTANT real := 1500;
    part text := 'passages_' || of_team;
    counted real[];
    order_of_words integer[];
    expected real := 0;
    chosen text[] := '{}';
    every text[] := '{}';
    query tsquery;
    at integer;
BEGIN
    IF NOT may(of_team, 'reader', session_user) THEN
        RAISE EXCEPTION 'permission denied for team %', of_team USING ERRCODE = 'insufficient_privilege';
    END IF;
    SELECT greatest(reltuples, 0) INTO total FROM pg_class WHERE oid = to_regclass('hippod.' || part);
    IF total < 20000 THEN
        EXECUTE format('SELECT count(*) FROM %I', part) INTO total;
        EXECUTE format(
            'SELECT array_agg((SELECT count(*) FROM %I WHERE words @@ quote_term(w)) ORDER BY n)::real[]
             FROM unnest($1) WITH ORDINALITY AS t (w, n)', part) INTO counted USING by_words;
    ELSE
        -- Frequencies of the frequent terms, from the statistics of the planner. Other terms are rarer than these.
        SELECT array_agg(coalesce(known.frequency, rare.frequency / 2) * total ORDER BY wanted.n) INTO counted
        FROM unnest(by_words) WITH ORDINALITY AS wanted (word, n)
        CROSS JOIN (
            SELECT coalesce(min(most_common_elem_freqs[cardinality(most_common_elems::text::text[])]), 0.001)
            FROM pg_stats WHERE schemaname = 'hippod' AND tablename = part AND attname = 'words'
        ) AS rare (frequency)
        LEFT JOIN (
            SELECT e.word, e.frequency FROM pg_stats,
                unnest(most_common_elems::text::text[],
                       most_common_elem_freqs[1:cardinality(most_common_elems::text::text[])]) AS e (word, frequency)
            WHERE schemaname = 'hippod' AND tablename = part AND attname = 'words'
        ) AS known ON known.word = wanted.word;
    END IF;
    frequencies := counted;

    -- Any of the rarest words, as long as few passages have them. If all words are frequent, all of the rarest.
    SELECT array_agg(n ORDER BY c, n) INTO order_of_words FROM unnest(counted) WITH ORDINALITY AS t (c, n) WHERE c > 0;
    FOREACH at IN ARRAY coalesce(order_of_words, '{}') LOOP
        EXIT WHEN expected + counted[at] > bound;
        expected := expected + counted[at];
        chosen := chosen || by_words[at];
    END LOOP;
    IF cardinality(chosen) > 0 THEN
        SELECT string_agg(quote_term(w)::text, ' | ')::tsquery INTO query FROM unnest(chosen) AS t (w);
    ELSIF order_of_words IS NOT NULL THEN
        expected := total;
        FOREACH at IN ARRAY order_of_words LOOP
            EXIT WHEN expected <= bound;
            expected := expected * counted[at] / total;
            every := every || by_words[at];
        END LOOP;
        SELECT string_agg(quote_term(w)::text, ' & ')::tsquery INTO query FROM unnest(every) AS t (w);
    END IF;

    RETURN QUERY EXECUTE format($q$
        WITH asked AS (
            SELECT quote_term(t.w) AS term, ln(1 + ($6 - t.c + 0.5) / (t.c + 0.5)) AS weight
            FROM unnest($1, $7) AS t (w, c) WHERE t.c > 0
        ), by_words AS (
            SELECT found.id FROM (
                SELECT id, words FROM %1$I WHERE words @@ $2 AND source <> $5 LIMIT 3000
            ) AS found
            ORDER BY (SELECT sum(asked.weight) FROM asked WHERE found.words @@ asked.term) DESC NULLS LAST
            LIMIT $8
        ), by_vector AS (
            SELECT id FROM %1$I WHERE model = $4 AND source <> $5 ORDER BY vector <=> $3 LIMIT $8
        )
        SELECT p.id, (CASE WHEN p.model = $4 THEN p.vector <=> $3 END)::real, $6, $7
        FROM (SELECT id FROM by_words WHERE $2 IS NOT NULL UNION SELECT id FROM by_vector WHERE $3 IS NOT NULL) AS one
        -- The primary key begins with the team.
        JOIN %1$I AS p ON p.team = $9 AND p.id = one.id
    $q$, part)
    USING by_words, query, by_vector, by_model, own_source, total, counted, most, of_team;
END
$$;
REVOKE ALL ON FUNCTION search FROM PUBLIC;
