"""Schema 2, frozen once released: other daemons hear of decisions, projects and changed knowledge.

Schema 1 tells of rows that came and went. A stone or a verdict is a row of the log, an alias of a
thing is a changed row, and names and marks of projects stand in tables without a namespace; what a
daemon keeps of them in memory was old until it was restarted.
"""

_GRAPH = {
    "entities": "entity_id",
    "relationships": "relationship_id",
    "facts": "fact_id",
    "procedures": "procedure_id",
    "preferences": "preference_id",
}
_ACTS = {
    "insert": ("NEW TABLE AS came", "SELECT * FROM came"),
    "update": (
        "OLD TABLE AS went NEW TABLE AS came",
        "SELECT * FROM went UNION ALL SELECT * FROM came",  # one that moved is told in both places
    ),
    "delete": ("OLD TABLE AS went", "SELECT * FROM went"),
}


def told(table: str, kind: str, key: str, place: str, acts: tuple[str, ...], only: str) -> str:
    """Triggers that tell which rows came, changed or went, by id; never what is in them."""
    parts = []
    for act in acts:
        tables, changed = _ACTS[act]
        parts.append(f"""
CREATE FUNCTION {table}_{act}_told() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM tell('{kind}', place, array_agg(DISTINCT id))
       FROM (SELECT {place} AS place, {key} AS id FROM ({changed}) AS changed WHERE {only}) AS rows
      GROUP BY place;
    RETURN NULL;
END $$;
CREATE TRIGGER {table}_{act}_told AFTER {act.upper()} ON {table}
    REFERENCING {tables} FOR EACH STATEMENT EXECUTE FUNCTION {table}_{act}_told();
""")
    return "".join(parts)


_ALWAYS = ("insert", "update", "delete")
_HOME = "'/actor/' || actor || '/'"

# A project is seen often and renamed seldom: only a new name is worth telling.
_RENAMED = """
CREATE FUNCTION project_renamed_told() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM tell('projects', '/actor/' || NEW.actor || '/', ARRAY[NEW.project_id]);
    RETURN NULL;
END $$;
CREATE TRIGGER project_renamed_told AFTER UPDATE OF name ON projects FOR EACH ROW
    WHEN (OLD.name <> NEW.name) EXECUTE FUNCTION project_renamed_told();
"""

SQL = (
    "".join(told(table, "graph", key, "namespace", ("update",), "true")
            for table, key in _GRAPH.items())
    + told("operations", "decisions", "op_id", "namespace", _ALWAYS,
           "kind IN ('tombstone', 'feedback')")
    + told("project_identities", "projects", "project_id", _HOME, _ALWAYS, "true")
    + told("projects", "projects", "project_id", _HOME, ("delete",), "true")
    + _RENAMED
)  # fmt: skip
