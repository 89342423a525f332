"""Schema 11, frozen once released: a belief has a life.

What a user stated is current; what was inferred, or written by an agent, is proposed. Two beliefs
about one subject with different values are disputed, the older one by the newer. Subjects and
values come from the preferences and facts that were made of the same statements, also from those
that were replaced since.
"""

SQL = """
ALTER TABLE memory_records ADD COLUMN state TEXT NOT NULL DEFAULT 'current'
    CHECK (state IN ('proposed', 'current', 'ended', 'disputed'));
ALTER TABLE memory_records ADD COLUMN scope TEXT NOT NULL DEFAULT 'project'
    CHECK (scope IN ('turn', 'session', 'branch', 'project', 'everywhere'));
ALTER TABLE memory_records ADD COLUMN scope_name TEXT NOT NULL DEFAULT '';
ALTER TABLE memory_records ADD COLUMN subject TEXT NOT NULL DEFAULT '';
ALTER TABLE memory_records ADD COLUMN value TEXT NOT NULL DEFAULT '';
ALTER TABLE memory_records ADD COLUMN polarity TEXT NOT NULL DEFAULT ''
    CHECK (polarity IN ('', 'do', 'avoid'));
ALTER TABLE memory_records ADD COLUMN source_type TEXT NOT NULL DEFAULT 'stated'
    CHECK (source_type IN ('corrected', 'stated', 'observed', 'inferred'));
ALTER TABLE memory_records ADD COLUMN ended_by TEXT NOT NULL DEFAULT '';
CREATE INDEX records_by_subject ON memory_records (namespace, subject) WHERE subject <> '';

UPDATE memory_records
   SET state = CASE WHEN valid_until IS NOT NULL THEN 'ended'
                    WHEN author = 'user' OR pinned = 1 THEN 'current' ELSE 'proposed' END,
       source_type = CASE WHEN author <> 'user' THEN 'inferred'
                          WHEN strategy = 'rules' AND confidence >= 0.95 THEN 'corrected'
                          ELSE 'stated' END,
       scope = CASE WHEN replace(namespace, '/project/', '') <> namespace THEN 'project'
                    ELSE 'everywhere' END
 WHERE kind = 'knowledge';

UPDATE memory_records SET subject = s.subject, value = s.value
  FROM (SELECT namespace, replace(key, '_', ' ') AS subject, value FROM preferences
        UNION
        SELECT namespace, replace(json_extract(payload, '$.thing.key'), '_', ' '),
               json_extract(payload, '$.thing.value')
          FROM archive WHERE source_kind = 'preference') AS s
 WHERE memory_records.kind = 'knowledge' AND memory_records.author = 'user'
   AND memory_records.namespace = s.namespace AND memory_records.title = s.value;

UPDATE memory_records SET subject = s.subject, value = s.object
  FROM (SELECT f.namespace, e.value AS event_id, f.object,
               f.subject || ' ' || replace(f.predicate, '_', ' ') AS subject
          FROM facts AS f, json_each(f.source_event_ids) AS e
         WHERE f.superseded_by IS NOT NULL
            OR f.fact_id IN (SELECT superseded_by FROM facts)) AS s,
       record_events AS e
 WHERE memory_records.kind = 'knowledge' AND memory_records.author = 'user'
   AND memory_records.namespace = s.namespace AND memory_records.row_id = e.row_id
   AND e.event_id = s.event_id
   AND instr(lower(memory_records.title), lower(s.object)) > 0;

UPDATE memory_records
   SET state = 'disputed',
       ended_by = coalesce((
           SELECT n.record_id FROM memory_records AS n
            WHERE n.namespace = memory_records.namespace AND n.subject = memory_records.subject
              AND n.kind = 'knowledge' AND n.state IN ('current', 'disputed')
              AND n.value <> memory_records.value
              AND (n.valid_from, n.record_id) >
                  (memory_records.valid_from, memory_records.record_id)
            ORDER BY n.valid_from DESC, n.record_id DESC LIMIT 1), '')
 WHERE kind = 'knowledge' AND state = 'current' AND subject <> ''
   AND EXISTS (
       SELECT 1 FROM memory_records AS o
        WHERE o.namespace = memory_records.namespace AND o.subject = memory_records.subject
          AND o.kind = 'knowledge' AND o.state IN ('current', 'disputed')
          AND o.value <> memory_records.value);
"""
