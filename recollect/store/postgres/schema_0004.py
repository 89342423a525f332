"""Schema 4, frozen once released: notifications that only the actor's own logins can name.

The name of an actor's channel could be computed by every login of the server, and a server does
not ask who listens or notifies: another login could learn ids of projects and memories, or send
what looks like a change. Now the name needs a salt that no login can read.
"""

SQL = """
-- Row-level security without a policy: only functions of the owner see the row.
CREATE TABLE channel_salt (salt TEXT NOT NULL);
ALTER TABLE channel_salt ENABLE ROW LEVEL SECURITY;
INSERT INTO channel_salt VALUES (gen_random_uuid()::text);

-- The channel of an actor, for logins that may act for it now; NULL for all others.
CREATE OR REPLACE FUNCTION channel(actor text) RETURNS text LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = recollect, pg_temp AS
$$ SELECT 'recollect_' || md5($1 || salt) FROM channel_salt
    WHERE pg_has_role(session_user, (SELECT c.relowner FROM pg_class AS c
                                      WHERE c.oid = 'recollect.scopes'::regclass), 'USAGE')
       OR EXISTS (SELECT 1 FROM scopes AS s
                   WHERE s.role = session_user AND s.actor = $1
                     AND s.actor = current_setting('recollect.actor', true)) $$;

CREATE OR REPLACE FUNCTION tell(kind text, namespace text, ids text[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    step CONSTANT int := 200;
    name CONSTANT text := channel(split_part(namespace, '/', 3));
    start int;
BEGIN
    IF name IS NULL THEN
        RETURN;
    END IF;
    FOR start IN SELECT generate_series(1, coalesce(cardinality(ids), 0), step) LOOP
        PERFORM pg_notify(name, concat_ws(
            E'\\n', origin(), kind, namespace,
            array_to_string(ids[start : start + step - 1], ',')));
    END LOOP;
END $$;
"""
