// Several memories chosen at once, and doing the same to each. What was done can be undone as one.
import * as daemon from "../daemon.js";
import { html, useState } from "../html.js";
import { typesOf } from "../kinds.js";
import { projects } from "../projects.js";
import { plural } from "../format.js";
import { Dialog } from "./dialog.js";
import { attempt, toast, toastError } from "./toast.js";

const BATCH = 100;

export function useSelection() {
  const [chosen, set] = useState(new Map()); // records by id
  return {
    records: [...chosen.values()],
    has: (record) => chosen.has(record.record_id),
    toggle: (record) =>
      set((old) => {
        const next = new Map(old);
        if (!next.delete(record.record_id)) next.set(record.record_id, record);
        return next;
      }),
    all: (records) => set(new Map(records.map((one) => [one.record_id, one]))),
    clear: () => set(new Map()),
  };
}

const chunks = (ids) =>
  Array.from({ length: Math.ceil(ids.length / BATCH) }, (_, i) =>
    ids.slice(i * BATCH, (i + 1) * BATCH),
  );

// The last change is undone first.
async function undoAll(operations, after) {
  try {
    for (const one of [...operations].reverse()) await daemon.undo(one);
    toast("Undone.");
  } catch (error) {
    toastError(error);
  }
  after();
}

// `work(item)` gives the ids of what it did. What fails is said once; the rest is done.
export async function doEach(items, work, words, after) {
  const done = [];
  let failed = null;
  let wrong = 0;
  for (const item of items)
    try {
      done.push(...(await work(item)));
    } catch (error) {
      failed = error;
      wrong += 1;
    }
  if (failed) toastError(wrong > 1 ? { message: `${wrong} failed: ${failed.message}` } : failed);
  if (done.length) toast(words, { act: () => undoAll(done, after) });
  after();
}

export const forgetAll = (records, after) =>
  doEach(
    chunks(records.map((one) => one.record_id)),
    async (ids) => (await daemon.forgetSome(ids)).op_ids,
    `Forgot ${plural(records.length, "memory", "memories")}.`,
    after,
  );

export const moveAll = (records, project, after) =>
  doEach(
    records,
    async (one) => [(await daemon.move(one.record_id, project)).op_id],
    `Moved ${plural(records.length, "memory", "memories")}.`,
    after,
  );

export const retypeAll = (records, type, after) =>
  doEach(
    records.filter((one) => (one.knowledge_type ?? one.observation_type) !== type),
    async (one) => [(await daemon.edit(one.record_id, { type })).op_id],
    `Changed ${plural(records.length, "memory", "memories")}.`,
    after,
  );

export const exportAll = (records) =>
  attempt(async () => {
    const found = [];
    for (const ids of chunks(records.map((one) => one.record_id)))
      found.push(...(await daemon.batch(ids)).items);
    const lines = found.map((one) => `${JSON.stringify(one)}\n`);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(lines, { type: "application/x-ndjson" }));
    link.download = "memories.jsonl";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });

// One choice out of a list, in a dialog.
export function Choose({ title, label, options, yes, close, act }) {
  const [value, choose] = useState("");
  return html`
    <${Dialog} label=${title} close=${close}>
      <div class="body grid">
        <h2>${title}</h2>
        <label class="field">
          ${label}
          <select value=${value} onChange=${(event) => choose(event.target.value)}>
            <option value="">Choose…</option>
            ${options.map(([name, words]) => html`
              <option key=${name} value=${name}>${words}</option>
            `)}
          </select>
        </label>
      </div>
      <footer>
        <button onClick=${close}>Cancel</button>
        <button
          class="primary"
          disabled=${!value}
          onClick=${() => {
            close();
            act(value);
          }}>
          ${yes}
        </button>
      </footer>
    <//>
  `;
}

export const projectOptions = (not = "") =>
  projects.value
    .filter((one) => one.namespace !== not)
    .map((one) => [one.project_id || "global", one.project_id ? one.name : "Everywhere"]);

// The types that all of these can have; none when they are of several kinds.
export const sharedTypes = (records) =>
  new Set(records.map((one) => one.kind)).size === 1 ? typesOf(records[0]) : [];

// What is done to the chosen ones; `children` are further buttons.
export function ActionBar({ selection, many, all, children }) {
  const number = selection.records.length;
  if (!number) return null;
  return html`
    <div class="actions" role="toolbar" aria-label="Selected">
      <b>${plural(number, "selected", "selected")}</b>
      ${children}
      ${number < many ? html`
        <button class="plain" onClick=${all}>Select all ${many}</button>
      ` : null}
      <button class="plain" onClick=${selection.clear}>Clear</button>
    </div>
  `;
}
