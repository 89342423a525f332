// Beliefs as rows, with what one can do about each: keep, correct, forget, change how far it
// holds. Every change can be undone.
import * as daemon from "../daemon.js";
import { html, useState } from "../html.js";
import { nameOf, projectOf, projects } from "../projects.js";
import { href } from "../route.js";
import { ago, count, plural, when } from "../format.js";
import { FormDialog } from "./dialog.js";
import { Badge, Kind, State } from "./pieces.js";
import { toast, toastError } from "./toast.js";
import { undo, undoable } from "./undo.js";

export const SOURCE = {
  corrected: "corrected by you",
  stated: "stated",
  observed: "seen in the work",
  inferred: "inferred",
};
// Who stated it: what came from elsewhere was not said by this person.
const STATED = {
  user: "said by you",
  assistant: "said by an agent",
  file: "from a file",
  web: "from the web",
};
const source = ({ source_type: type, strategy, author }) =>
  strategy === "import"
    ? "imported"
    : ((type === "stated" && STATED[author]) || SOURCE[type]) ?? type;
const FEW = 30;
const KEEP = { proposed: "Keep", disputed: "This one holds", ended: "Holds again" };
const REACH = [
  ["project", "In one project"],
  ["everywhere", "Everywhere"],
  ["branch", "On one branch"],
  ["session", "In one session"],
];

const used = (record) =>
  record.access_count
    ? `used ${plural(record.access_count, "time")}, last ${ago(record.last_accessed)}`
    : "never used";

// What ended a belief, or disputes it, in words.
function endedBy(record, titles) {
  const by = record.ended_by;
  if (!by || by === "user") return "you";
  const title = titles[by];
  return title ? html`<a href=${href("memories", by)}>${title}</a>` : "a later message";
}

// The beliefs that a proposal would end.
const would = (record) =>
  (record.state === "proposed" ? (record.facts ?? []) : [])
    .map((fact) => fact.match(/^(Replaces|Ends) (mr_\w+)$/))
    .filter(Boolean);

function Place({ record }) {
  if (record.scope === "branch")
    return html`<${Badge} tone="info">branch ${record.scope_name}<//>`;
  if (record.scope === "session") return html`<${Badge} tone="info">one session<//>`;
  if (record.scope === "turn") return html`<${Badge}>one prompt<//>`;
  return null;
}

// `kept`: the ids of those that a person said to keep; with it, what holds has that button, too.
// `mixed`: among rows of other projects, it names its own.
// `standing`: in a list of what holds, a dispute is decided elsewhere, where both sides are seen.
// `told`: of a dispute, the side that agents are told.
// `selection`: with it, it can be chosen together with others.
export function Belief({
  record,
  titles = {},
  kept,
  mixed,
  standing,
  told,
  again,
  label,
  selection,
}) {
  const [dialog, open] = useState("");
  const act = async (event, work, words, stays = false) => {
    // The row goes away: the next one takes the focus, so that one can go on by keyboard.
    const row = event.target.closest?.("[data-belief]");
    const near = row?.nextElementSibling ?? row?.previousElementSibling;
    open("");
    try {
      const done = await work();
      if (!stays) near?.querySelector("button")?.focus();
      toast(words, { act: () => undo((done.operation ?? done).op_id, again) });
      again();
    } catch (error) {
      toastError(error);
    }
  };
  const { record_id: id, state, title } = record;
  const ended = state === "ended";
  return html`
    <${label} class="belief" data-belief=${id}>
      <div class="what">
        <div class="heading">
          ${selection ? html`
            <input
              type="checkbox"
              checked=${selection.has(record)}
              onChange=${() => selection.toggle(record)}
              aria-label=${`Select ${title}`}
            />
          ` : null}
          <a class=${`title wrap ${ended ? "over" : ""}`} href=${href("memories", id)}>
            ${title}
          </a>
        </div>
        ${record.summary && record.summary !== title ? html`
          <p class="small soft two-lines">${record.summary}</p>
        ` : null}
        ${would(record).map(([, how, old]) => html`
          <p class="small soft" key=${old}>
            ${how === "Ends" ? "Would end" : "Would replace"}:${" "}
            <a href=${href("memories", old)}>${titles[old] ?? "another belief"}</a>
          </p>
        `)}
        <div class="row-line small faint">
          <${Kind} record=${record} />
          <${Place} record=${record} />
          ${record.pinned ? html`<${Badge} tone="accent">Pinned<//>` : null}
          ${ended ? null : html`<${State} value=${state} />`}
          ${told ? html`<${Badge} tone="info">Agents are told this one<//>` : null}
          <span>
            ${mixed ? `${nameOf(record.namespace)} · ` : ""}
            ${ended ? html`
              Ended <time title=${when(record.valid_until)}>${ago(record.valid_until)}</time>${" "}
              by ${endedBy(record, titles)} · held since ${when(record.valid_from)}
            ` : html`
              Since <time title=${when(record.valid_from)}>${ago(record.valid_from)}</time> ·${" "}
              ${source(record)} · ${used(record)}
            `}
          </span>
        </div>
      </div>
      <div class="acts" role="group" aria-label=${`Decide: ${title}`}>
        ${standing && state === "disputed" ? html`
          <a class="button" href=${href("beliefs", "", { show: "waiting" })}>Decide…</a>
        ` : KEEP[state] ? html`
          <button
            class=${ended ? "" : "primary"}
            onClick=${(event) => act(event, () => daemon.keep(id), "It holds.")}>
            ${KEEP[state]}
          </button>
        ` : null}
        ${kept && state === "current" ? html`
          <button
            aria-pressed=${kept.includes(id)}
            onClick=${(event) =>
              act(event, () => daemon.feedback(record, "useful"), "Kept.", true)
            }>
            ${kept.includes(id) ? "Kept" : "Keep"}
          </button>
        ` : null}
        ${ended ? null : html`
          <button onClick=${() => open("correct")}>Correct</button>
          <button
            class="danger"
            onClick=${(event) => act(event, () => daemon.drop(id), "It no longer holds.")}>
            Forget
          </button>
          ${kept ? null : html`
            <button onClick=${() => open("reach")}>Move…</button>
          `}
        `}
      </div>
      ${dialog === "correct" ? html`
        <${Correct}
          name=${title}
          text=${record.summary?.startsWith(title) ? record.summary : title}
          close=${() => open("")}
          save=${(event, text) => act(event, () => daemon.correct(id, text), "Corrected.")}
        />
      ` : null}
      ${dialog === "reach" ? html`
        <${Reach}
          record=${record}
          close=${() => open("")}
          save=${(event, change) => act(event, () => daemon.reach(id, change), "Changed.")}
        />
      ` : null}
    <//>
  `;
}

// By namespace, in the order of the newest; what holds everywhere comes first.
export function grouped(items, at = (one) => one.valid_from) {
  const newest = [...items].sort((a, b) => new Date(at(b)) - new Date(at(a)));
  const groups = Map.groupBy(newest, (one) => one.namespace);
  const place = ([namespace]) => (namespace.includes("/project/") ? 1 : 0);
  return [...groups].sort((a, b) => place(a) - place(b));
}

// The beliefs of one project: those that contradict each other side by side, then the others.
// `below`: what stands under them.
export function BeliefGroup({ name, items, note, few = FEW, below, ...more }) {
  const [all, showAll] = useState(false);
  const disputes = Map.groupBy(
    items.filter((one) => one.state === "disputed"),
    (one) => one.ended_by || one.record_id,
  );
  const pairs = [...disputes].filter(([, sides]) => sides.length > 1);
  const paired = new Set(pairs.flatMap(([, sides]) => sides));
  const rest = items.filter((one) => !paired.has(one));
  const shown = all ? rest : rest.slice(0, few);
  const asked = all ? pairs : pairs.slice(0, few);
  const bothHold = (newest) =>
    undoable(() => daemon.keep(newest, true), "Both hold.", more.again);
  return html`
    <section class="card beliefs" aria-label=${name}>
      <header>
        <h2>${name}</h2>
        <span class="faint small">${note ?? count(items.length)}</span>
      </header>
      ${asked.map(([key, sides]) => html`
        <div key=${key} class="dispute" role="group" aria-label="These contradict each other">
          <div class="row-line">
            <p class="small soft">These contradict each other. Which one holds?</p>
            <button onClick=${() => bothHold(key)}>Both hold</button>
          </div>
          <div class="sides">
            ${sides.map((one) => html`
              <${Belief}
                key=${one.record_id}
                label="div"
                record=${one}
                told=${one.record_id === key}
                ...${more}
              />
            `)}
          </div>
        </div>
      `)}
      ${shown.length ? html`
        <ul class="items">
          ${shown.map((one) => html`
            <${Belief} key=${one.record_id} label="li" record=${one} ...${more} />
          `)}
        </ul>
      ` : null}
      ${shown.length < rest.length || asked.length < pairs.length ? html`
        <p class="state small">
          <button onClick=${() => showAll(true)}>Show all ${count(items.length)}</button>
        </p>
      ` : null}
      ${below}
    </section>
  `;
}

export const Correct = ({ name, text, close, save }) => html`
  <${FormDialog}
    label=${`Correct: ${name}`}
    close=${close}
    save=${(form, event) => save(event, form.get("text").trim())}>
    <h2>Correct</h2>
    <label class="field">
      What holds instead
      <textarea name="text" required maxlength="4000" rows="4" defaultValue=${text}></textarea>
    </label>
  <//>
`;

// `several`: of more than one project, which they do not leave.
export function Reach({ record, several, close, save }) {
  const here = record.namespace.includes("/project/");
  const [scope, choose] = useState(
    !here ? "everywhere" : record.scope === "turn" ? "project" : record.scope,
  );
  return html`
    <${FormDialog}
      label=${`Where it holds: ${record.title}`}
      close=${close}
      save=${(form, event) => save(event, { scope, ...Object.fromEntries(form) })}>
      <h2>Where it holds</h2>
      <p class="soft wrap">${record.title}</p>
      <label class="field">
        Holds
        <select value=${scope} onChange=${(event) => choose(event.target.value)}>
          ${REACH.map(([name, words]) => html`
            <option key=${name} value=${name}>${words}</option>
          `)}
        </select>
      </label>
      ${scope === "branch" || scope === "session" ? html`
        <label class="field">
          ${scope === "branch" ? "Name of the branch" : "Id of the session"}
          <input
            type="text"
            name="name"
            required
            maxlength="256"
            defaultValue=${
              record.scope === scope
                ? record.scope_name
                : scope === "session"
                  ? (record.session_id ?? "")
                  : ""
            }
          />
        </label>
      ` : null}
      ${scope !== "everywhere" && !(several && here) ? html`
        <label class="field">
          Project
          <select name="project" value=${projectOf(record.namespace)}>
            ${projects.value
              .filter((one) => one.project_id)
              .map((one) => html`
                <option key=${one.project_id} value=${one.project_id}>${one.name}</option>
              `)}
          </select>
        </label>
      ` : null}
    <//>
  `;
}
