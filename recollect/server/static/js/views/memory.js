// One memory: what it says, where it comes from, its history, and what one can do with it.
import * as daemon from "../daemon.js";
import { html, useState } from "../html.js";
import { agentOf, editable, isBelief, typesOf } from "../kinds.js";
import { nameOf } from "../projects.js";
import { go, href } from "../route.js";
import { percent, plural, short, when } from "../format.js";
import { Correct, Reach } from "../parts/belief.js";
import { Confirm, FormDialog } from "../parts/dialog.js";
import { Ago, Badge, Fresh, Kind, Segments, State } from "../parts/pieces.js";
import { Choose, moveAll, projectOptions } from "../parts/selection.js";
import { Empty, Loading, Shown, useData } from "../parts/states.js";
import { attempt, toast } from "../parts/toast.js";
import { undo, undoable } from "../parts/undo.js";

const AUTHOR = {
  user: "written by you",
  assistant: "from an agent's work",
  tool: "from a tool's output",
  file: "from a file",
  web: "from the web",
};
const author = (record) =>
  record.strategy === "import" ? "imported" : (AUTHOR[record.author] ?? record.author);
// When it happened, and when it was stored if that was another minute.
const times = ({ valid_from: happened, created_at: stored }) =>
  when(happened) === when(stored)
    ? `stored ${when(stored)}`
    : `happened ${when(happened)}, stored ${when(stored)}`;

// What a person should know of a belief that waits for a decision.
const UNDECIDED = {
  proposed: () => "Agents are not told this yet.",
  disputed: ({ ended_by: newer }) =>
    `Another belief contradicts this. Agents are told ${newer ? "the other" : "this"} one.`,
};

// News of another memory change nothing here.
const isOf = (id) => (data, _kind, told) => (told.record_id === id ? undefined : data);

export function Memory({ id, params }) {
  const state = useData(() => daemon.memory(id), id, ["memory", "summary"], isOf(id));
  const [dialog, open] = useState(null);
  const [tab, show] = useState("content");
  if (state.error && [400, 404].includes(state.error.status))
    return html`<${Gone} id=${id} params=${params} again=${state.again} />`;
  return html`
    <aside class="card panel" aria-label="One memory">
      <${Shown} state=${state}>
        ${(record) => html`
          <header>
            <${Kind} record=${record} />
            ${record.pinned ? html`<${Badge} tone="accent">Pinned<//>` : null}
            <${State} value=${record.state} />
            <${Fresh} value=${record.freshness} />
            <span class="push">
              <a
                class="button"
                href=${href("memories", "", params)}
                aria-label="Close this memory">
                Close
              </a>
            </span>
          </header>
          <div class="body">
            <h2 class="wrap">${record.title}</h2>
            <p class="small faint">
              ${nameOf(record.namespace)} · ${author(record)} ·${" "}
              ${times(record)}
            </p>
            ${UNDECIDED[record.state] ? html`
              <p class="small">${UNDECIDED[record.state](record)}</p>
            ` : null}
            <div class="row-line" style=${{ marginBottom: "12px" }}>
              ${record.state === "proposed" ? html`
                <button class="primary" onClick=${() => keep(record, state.again)}>Keep</button>
              ` : null}
              ${record.state === "disputed" ? html`
                <a class="button" href=${href("beliefs", "", { show: "waiting" })}>Decide…</a>
              ` : null}
              ${isBelief(record) && record.state !== "ended" ? html`
                <button onClick=${() => open("correct")}>Correct</button>
              ` : null}
              <button onClick=${() => open("edit")}>
                ${isBelief(record) ? "Edit details" : "Edit"}
              </button>
              <button
                aria-pressed=${record.pinned}
                onClick=${() =>
                  change(
                    record,
                    { pinned: !record.pinned },
                    record.pinned ? "Unpinned." : "Pinned: age will not lower its rank.",
                    state.again,
                  )
                }>
                ${record.pinned ? "Unpin" : "Pin"}
              </button>
              <button onClick=${() => open("move")}>Move…</button>
              <button class="danger" onClick=${() => open("delete")}>Forget</button>
              <button class="danger" onClick=${() => open("never")}>Never again</button>
            </div>
            <${Segments}
              label="Show"
              options=${[
                ["content", "Content"],
                ["source", "Source"],
                ["past", "History"],
              ]}
              value=${tab}
              choose=${show}
            />
            <hr />
            ${tab === "content" ? html`<${Content} record=${record} />` : null}
            ${tab === "source" ? html`<${Source} id=${id} />` : null}
            ${tab === "past" ? html`<${Past} id=${id} again=${state.again} />` : null}
          </div>
          ${dialog === "edit" ? html`
            <${Edit} record=${record} close=${() => open(null)} again=${state.again} />
          ` : null}
          ${dialog === "correct" ? html`
            <${Correct}
              name=${record.title}
              text=${record.summary?.startsWith(record.title) ? record.summary : record.title}
              close=${() => open(null)}
              save=${(_event, text) => {
                open(null);
                correct(record, text, params);
              }}
            />
          ` : null}
          ${dialog === "move" && isBelief(record) ? html`
            <${Reach}
              record=${record}
              close=${() => open(null)}
              save=${(_event, change) => {
                open(null);
                undoable(() => daemon.reach(id, change), "Changed.", state.again);
              }}
            />
          ` : dialog === "move" ? html`
            <${Move} record=${record} close=${() => open(null)} again=${state.again} />
          ` : null}
          ${dialog === "delete" ? html`
            <${Confirm}
              title="Forget this memory?"
              text=${
                `“${record.title}” will no longer be found or injected. ` +
                "You can undo this for 30 days."
              }
              close=${() => open(null)}
              act=${() => drop(record, false, params)}
            />
          ` : null}
          ${dialog === "never" ? html`
            <${Confirm}
              title="Never again?"
              yes="Forget and reject"
              text=${
                `“${record.title}” is forgotten, and the same statement is rejected ` +
                "whenever it comes up again, also in imports."
              }
              close=${() => open(null)}
              act=${() => drop(record, true, params)}
            />
          ` : null}
        `}
      <//>
    </aside>
  `;
}

const Content = ({ record }) => html`
  <div class="grid">
    ${record.summary && record.summary !== record.title ? html`
      <p class="wrap">${record.summary}</p>
    ` : null}
    ${record.facts?.length ? html`
      <div>
        <h3>Facts</h3>
        <ul>
          ${record.facts.map((fact) => html`
            <li class="wrap" key=${fact}>${fact}</li>
          `)}
        </ul>
      </div>
    ` : null}
    ${record.files?.length ? html`
      <div>
        <h3>Files</h3>
        <ul>
          ${record.files.map((file) => html`
            <li key=${file}>
              <a class="mono" href=${href("memories", "", { file })}>
                ${file}
              </a>
            </li>
          `)}
        </ul>
      </div>
    ` : null}
    ${record.concepts?.length ? html`
      <div class="row-line">
        ${record.concepts.map((concept) => html`
          <a class="chip" key=${concept} href=${href("memories", "", { concept })}>
            ${concept}
          </a>
        `)}
      </div>
    ` : null}
    ${record.detail ? html`
      <details open=${record.detail.length < 1200}>
        <summary>Full text</summary>
        <div class="quote wrap">${record.detail}</div>
      </details>
    ` : null}
    <dl class="facts small">
      <dt>Importance</dt>
      <dd>${record.importance} of 10</dd>
      <dt>Certainty</dt>
      <dd>${percent(record.confidence)}</dd>
      <dt>Used</dt>
      <dd>
        ${record.access_count ? html`
          ${plural(record.access_count, "time")}, last <${Ago} at=${record.last_accessed} />
        ` : (
          "never"
        )}
      </dd>
      <dt>Method</dt>
      <dd>${record.strategy}</dd>
      ${record.session_id ? html`
        <dt>Session</dt>
        <dd>
          <a href=${href("sessions", record.session_id, { namespace: record.namespace })}>
            ${record.session_id}
          </a>
        </dd>
      ` : null}
      ${record.expires_at ? html`
        <dt>Expires</dt>
        <dd>${when(record.expires_at)}</dd>
      ` : null}
      <dt>Id</dt>
      <dd class="mono">${record.record_id}</dd>
    </dl>
  </div>
`;

function Source({ id }) {
  const state = useData(() => daemon.provenance(id), id);
  return html`
    <${Shown}
      state=${state}
      empty=${{
        when: (data) => !data.events.length,
        show: html`
          <${Empty} title="No source events">
            <p>This memory was written by hand or imported.</p>
          <//>
        `,
      }}>
      ${(data) => html`
        <div>
          <p class="small soft">
            ${plural(data.events.length, "event")} this memory was made from.
          </p>
          ${data.events.map(({ event }) => html`
            <div class="turn" key=${event.event_id}>
              <div class="row-line">
                <${Badge}>${event.kind.replace("_", " ")}<//>
                <span class="small soft">${agentOf(event.source.surface)}</span>
                <${Ago} at=${event.valid_time} />
              </div>
              <pre class="quote">${textOf(event.body)}</pre>
            </div>
          `)}
        </div>
      `}
    <//>
  `;
}
const textOf = (body) =>
  body.content ??
  body.turns?.map((turn) => `${turn.role}: ${turn.content}`).join("\n\n") ??
  JSON.stringify(body.data, null, 1);

function Past({ id, again }) {
  const state = useData(() => daemon.history(id), id, ["memory", "summary"], isOf(id));
  return html`
    <${Shown}
      state=${state}
      empty=${{
        when: (data) => !data.versions.length,
        show: html`
          <${Empty} title="Never changed">
            <p>Edits, merges and moves are listed here; each can be undone.</p>
          <//>
        `,
      }}>
      ${(data) => html`
        <ol class="tl">
          ${data.versions.map((one) => html`
            <li key=${one.op_id}>
              <b>${one.ended_by || "changed"}</b> <${Ago} at=${one.until} />
              ${one.reason ? html`
                ${" "}
                <span class="soft">${one.reason}</span>
              ` : null}
              <${Difference} before=${one.record} after=${data.record} />
              <button onClick=${() => undo(one.op_id, again)}>Undo this</button>
            </li>
          `)}
        </ol>
      `}
    <//>
  `;
}

// What changed, field by field.
function Difference({ before, after }) {
  const differs = (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]);
  const changed = after ? editable(after).filter(differs) : ["title"];
  const text = (value) => (Array.isArray(value) ? value.join("; ") : String(value));
  return html`
    <dl class="facts small">
      ${changed.map((name) => html`
        <dt>${name}</dt>
        <dd class="wrap">
          <del class="faint">${text(before[name])}</del>
          ${after ? html`
            <br />
            ${text(after[name])}
          ` : null}
        </dd>
      `)}
    </dl>
  `;
}

// How each field is edited: its label, and what stands in the form. A field that is not
// listed here has a place of its own (pin, confidence) or is too long for a form.
const FIELDS = {
  title: ["Title", { type: "text", required: true, maxlength: 200 }],
  summary: ["Summary", { maxlength: 4000 }],
  facts: ["Facts, one per line"],
  concepts: ["Concepts, one per line"],
  files: ["Files, one per line"],
  importance: ["Importance, 1 to 10", { type: "number", min: 1, max: 10 }],
};

const LISTS = ["facts", "concepts", "files"];

function Field({ name, value }) {
  const [label, limits = {}] = FIELDS[name];
  return html`
    <label class="field">
      ${label}
      ${limits.type
        ? html`<input name=${name} value=${value} ...${limits} />`
        : html`<textarea name=${name} ...${limits}>${
            LISTS.includes(name) ? (value ?? []).join("\n") : value
          }</textarea>`}
    </label>
  `;
}

function given(form, name) {
  if (FIELDS[name][1]?.type === "number") return Number(form.get(name));
  if (!LISTS.includes(name)) return form.get(name);
  return form
    .get(name)
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
}

function Edit({ record, close, again }) {
  const names = editable(record).filter((name) => name in FIELDS);
  const types = typesOf(record);
  const type = record.knowledge_type ?? record.observation_type ?? "";
  const save = (form) => {
    const wanted = names.map((name) => [name, given(form, name)]);
    const chosen = form.get("type");
    if (chosen && chosen !== type) wanted.push(["type", chosen]);
    close();
    change(
      record,
      { ...Object.fromEntries(wanted), version: record.version },
      "Saved.",
      again,
    );
  };
  return html`
    <${FormDialog} label="Edit this memory" close=${close} save=${save}>
      <h2>Edit</h2>
      ${names.slice(0, 1).map((name) => html`
        <${Field} key=${name} name=${name} value=${record[name]} />
      `)}
      ${types.length > 1 ? html`
        <label class="field">
          Type
          <select name="type" value=${type}>
            ${type ? null : html`<option value="">None</option>`}
            ${types.map((one) => html`
              <option key=${one.name} value=${one.name}>${one.label}</option>
            `)}
          </select>
        </label>
      ` : null}
      ${names.slice(1).map((name) => html`
        <${Field} key=${name} name=${name} value=${record[name]} />
      `)}
    <//>
  `;
}

const Move = ({ record, close, again }) => html`
  <${Choose}
    title="Move to another project"
    label=${`Project (it is now in ${nameOf(record.namespace)})`}
    options=${projectOptions(record.namespace)}
    yes="Move"
    close=${close}
    act=${(project) => moveAll([record], project, again)}
  />
`;

function Gone({ id, params, again }) {
  const state = useData(() => daemon.history(id), id);
  const last = state.data?.versions[0];
  if (!state.data && !state.error) return html`<${Loading} />`;
  return html`
    <aside class="card panel" aria-label="One memory">
      <header>
        <h2>${last ? "This memory is gone" : "There is no such memory"}</h2>
        <span class="push">
          <a class="button" href=${href("memories", "", params)}>Close</a>
        </span>
      </header>
      <div class="body">
        ${last ? html`
          <p>
            It was${" "}
            ${last.ended_by === "merge"
              ? "merged into another one"
              : last.ended_by === "move"
                ? "moved"
                : "deleted"}${" "}
            <${Ago} at=${last.until} />.
          </p>
          <p class="wrap"><b>${last.record.title}</b></p>
          <button class="primary" onClick=${() => undo(last.op_id, again)}>
            Restore it
          </button>
        ` : html`
          <p class="wrap">
            No memory has the id <code>${short(id, 60)}</code>, and no copy of one is kept.${" "}
            The address may be mistyped.
          </p>
          <p><a href=${href("memories")}>Show all memories</a></p>
        `}
      </div>
    </aside>
  `;
}

const change = (record, changes, words, again) =>
  undoable(() => daemon.edit(record.record_id, changes), words, again);

const keep = (record, again) =>
  undoable(() => daemon.keep(record.record_id), "It holds.", again);

// Another belief holds instead: it is shown in the place of this one.
const correct = (record, text, params) =>
  attempt(async () => {
    const done = await daemon.correct(record.record_id, text);
    const back = () => go("memories", record.record_id, params);
    toast("Corrected.", { act: () => undo(done.operation.op_id, back) });
    go("memories", done.belief.record_id, params);
  });

const drop = (record, never, params) =>
  attempt(async () => {
    const done = await daemon.forget(record.record_id, never);
    toast(never ? "Forgotten. The same statement will be rejected from now on." : "Forgotten.", {
      act: () => undo(done.op_ids[0], () => go("memories", record.record_id, params)),
    });
    go("memories", "", params);
  });
