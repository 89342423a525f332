// The kinds and types of memory, as the daemon's table has them: labels, colours, icons, what a
// person may edit; and what agents and the signals of a score are called.
import { capital } from "./format.js";
import { signal } from "./html.js";

export const table = signal({ kinds: [], types: [], agents: {}, signals: {} });

const kindOf = (name) => table.value.kinds.find((one) => one.name === name);
const typeOf = (record) =>
  table.value.types.find(
    (one) => one.name === (record.knowledge_type ?? record.observation_type),
  );

export const labelOf = (record) =>
  typeOf(record)?.label ?? capital(kindOf(record.kind)?.label ?? record.kind);
export const toneOf = (record) => typeOf(record)?.tone || (kindOf(record.kind)?.tone ?? "");
export const iconOf = (record) => kindOf(record.kind)?.icon ?? "";
export const editable = (record) => kindOf(record.kind)?.editable ?? [];
export const typesOf = (record) =>
  table.value.types.filter((one) => kindOf(record.kind)?.types.includes(one.name));
export const isBelief = (record) => kindOf(record.kind)?.is_belief ?? false;
export const isSummary = (record) => kindOf(record.kind)?.is_summary ?? false;

export const agentOf = (name) => table.value.agents[name] ?? name;
export const signalOf = (name) => table.value.signals[name] ?? name.replaceAll("_", " ");

// What a count by kind or type is called.
export const pluralOf = (name) => {
  const named = kindOf(name) ?? table.value.types.find((one) => one.name === name);
  return named ? capital(named.plural) : name;
};
