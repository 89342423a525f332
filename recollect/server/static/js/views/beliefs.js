// Beliefs: what holds, by project and everywhere; what waits for a decision; what ended and by
// what; and the facts and procedures behind them. Each can be corrected, and each change undone.
import * as daemon from "../daemon.js";
import { html, useState } from "../html.js";
import { nameOf, ProjectFilter } from "../projects.js";
import { href, refine, route } from "../route.js";
import { capital, count, sure, when } from "../format.js";
import { BeliefGroup, Correct, grouped, SOURCE } from "../parts/belief.js";
import { BeliefBulk } from "../parts/beliefbulk.js";
import { Badge, Segments } from "../parts/pieces.js";
import { useSelection } from "../parts/selection.js";
import { Empty, Section, Shown, useData } from "../parts/states.js";
import { undoable } from "../parts/undo.js";

const LIVE = ["memory"];
const NEWEST = 200; // of all projects, unless all are asked for
const ofBeliefs = (data, _kind, told) =>
  told.removed || told.kind === "knowledge" ? undefined : data;
const SURE = { corrected: "good", stated: "good", observed: "info", inferred: "" };
const LEAD = {
  "": "What agents are told to hold true, by project, newest first.",
  waiting:
    "Agents are not told a proposal until you keep it. In a dispute they are told the newer one.",
  ended: "What no longer holds, and what ended it.",
  facts: "Preferences, facts and procedures that were learned from the work.",
};
const NONE = {
  "": ["No beliefs yet", "Tell an agent “always use pnpm here”, and it is listed here."],
  waiting: ["Nothing waits for you", "Proposals and contradictions are listed here."],
  ended: ["Nothing has ended", "What is corrected, replaced or forgotten is listed here."],
};

export function Beliefs() {
  const { params } = route.value;
  const show = params.show ?? "";
  const waiting = useData(
    () => daemon.beliefs({ project: params.project, show: "waiting" }),
    params.project ?? "",
    LIVE,
    ofBeliefs,
  );
  const wait = waiting.data?.items.length;
  return html`
    <div>
      <div class="head">
        <h1>Beliefs</h1>
        <p class="lead">${LEAD[show]}</p>
      </div>
      <div class="filters">
        <${Segments}
          label="Show"
          options=${[
            ["", "Hold now"],
            ["waiting", wait ? `Waiting (${wait})` : "Waiting"],
            ["ended", "Ended"],
            ["facts", "Facts"],
          ]}
          value=${show}
          choose=${(name) => refine({ show: name })}
        />
        <${ProjectFilter} />
      </div>
      <${Section} key=${show}>
        ${show === "facts" ? html`
          <${Facts} project=${params.project} />
        ` : show === "waiting" ? html`
          <${Listed} show=${show} state=${waiting} />
        ` : html`
          <${Loaded} show=${show} project=${params.project} />
        `}
      <//>
    </div>
  `;
}

function Loaded({ show, project }) {
  const [limit, most] = useState(NEWEST);
  const state = useData(
    () => daemon.beliefs({ project, show: show || "standing", limit }),
    `${show} ${project ?? ""} ${limit}`,
    LIVE,
    ofBeliefs,
  );
  const total = state.data?.total ?? 0;
  return html`
    <${Listed} show=${show} state=${state} />
    ${total > (state.data?.items.length ?? 0) ? html`
      <p class="state small">
        These are the newest ${count(NEWEST)}.${" "}
        <button onClick=${() => most(total)}>Show all ${count(total)}</button>
      </p>
    ` : null}
  `;
}

function Listed({ show, state }) {
  const selection = useSelection();
  const at = (one) => (show === "ended" ? one.valid_until : undefined) ?? one.valid_from;
  return html`
    ${show === "ended" ? html`
      <p class="small soft">
        Replaced facts are under <a href=${href("sessions", "", { show: "changes" })}>Changes</a>.
      </p>
    ` : null}
    <${Shown}
      state=${state}
      empty=${{
        when: (data) => !data.items.length,
        show: html`
          <section class="card">
            <${Empty} title=${NONE[show][0]}><p>${NONE[show][1]}</p><//>
          </section>
        `,
      }}>
      ${(data) => html`
        <div class="grid">
          <${BeliefBulk} selection=${selection} items=${data.items} again=${state.again} />
          ${grouped(data.items, at).map(([namespace, items]) => html`
            <${BeliefGroup}
              key=${namespace}
              name=${nameOf(namespace)}
              items=${items}
              titles=${data.titles}
              again=${state.again}
              selection=${selection}
              standing=${!show}
            />
          `)}
        </div>
      `}
    <//>
  `;
}

function Facts({ project }) {
  const state = useData(
    () => daemon.facts({ project, limit: 500 }),
    project ?? "",
    ["run"],
  );
  return html`
    <${Shown} state=${state}>
      ${(data) => html`
        <div class="grid">
          <${FactList}
            title="Preferences"
            none="Tell an agent “always use pnpm here”, and it is listed here."
            items=${data.preferences.map((one) => ({
              id: one.preference_id,
              group: inWords(one.category),
              what: inWords(one.key),
              value: one.value,
              sure: one.strength,
              source: one.source_type,
              at: one.updated_at,
              namespace: one.namespace,
              edit: true,
            }))}
            again=${state.again}
          />
          <${FactList}
            title="Facts"
            none="They are learned as your agents work."
            items=${data.facts.map((one) => ({
              id: one.fact_id,
              group: one.subject,
              about: one.subject,
              what: inWords(one.predicate),
              value: one.object,
              sure: one.confidence,
              source: one.source_type,
              at: one.valid_from,
              namespace: one.namespace,
              edit: true,
              sensitive: one.sensitive,
            }))}
            again=${state.again}
          />
          <${FactList}
            title="Procedures"
            none="Steps are learned when they are repeated a third time."
            items=${data.procedures.map((one) => ({
              id: one.procedure_id,
              what: inWords(one.name),
              value: one.steps.join(" → "),
              sure: one.confidence,
              source: `${one.successes} of ${one.successes + one.failures} worked`,
              at: one.updated_at,
              namespace: one.namespace,
            }))}
            again=${state.again}
          />
        </div>
      `}
    <//>
  `;
}

const inWords = (name) => capital(name.replaceAll("_", " "));

// By what they are about, largest group first; what stands alone has no heading of its own.
function byGroup(items) {
  const groups = [...Map.groupBy(items, (one) => one.group ?? "")];
  const several = groups.filter(([name, some]) => name && some.length > 1);
  const alone = groups.filter((one) => !several.includes(one)).flatMap(([, some]) => some);
  several.sort((a, b) => b[1].length - a[1].length || (a[0] < b[0] ? -1 : 1));
  const rest = alone.map((one) => (one.about ? { ...one, about: "", what: full(one) } : one));
  return rest.length ? [...several, [several.length ? "Others" : "", rest]] : several;
}
const full = (one) => `${one.about} ${one.what.charAt(0).toLowerCase()}${one.what.slice(1)}`;

const FactList = ({ title, none, items, again }) => html`
  <section class="card" aria-label=${title}>
    <header>
      <h2>${title}</h2>
      <span class="faint small">${count(items.length)}</span>
    </header>
    ${items.length ? html`
      ${byGroup(items).map(([name, some]) => html`
        ${name ? html`<h3 class="day" key=${`${name} head`}>${name}</h3>` : null}
        <ul class="items" key=${name}>
          ${some.map((one) => html`<${FactRow} key=${one.id} one=${one} again=${again} />`)}
        </ul>
      `)}
    ` : html`
      <${Empty} title="None yet"><p>${none}</p><//>
    `}
  </section>
`;

function FactRow({ one, again }) {
  const [editing, edit] = useState(false);
  const act = (work, words) => {
    edit(false);
    undoable(work, words, again);
  };
  return html`
    <li class="belief">
      <div class="what">
        <span class="wrap">
          <a href=${href("memories", "", { q: one.about ? full(one) : one.what })}>
            ${one.what}
          </a>:${" "}
          <strong>${one.value}</strong>
        </span>
        <div class="row-line small faint">
          <${Badge} tone=${SURE[one.source] ?? ""}>${SOURCE[one.source] ?? one.source}<//>
          ${one.sensitive ? html`<${Badge} tone="warn">sensitive<//>` : null}
          <span>${sure(one.sure)}</span>
          <span>since ${when(one.at)}</span>
          <span>${nameOf(one.namespace)}</span>
        </div>
      </div>
      <div class="acts" role="group" aria-label=${`Decide: ${one.what}`}>
        ${one.edit ? html`<button onClick=${() => edit(true)}>Correct</button>` : null}
        <button
          class="danger"
          onClick=${() => act(() => daemon.removeFact(one.id), "Forgotten.")}>
          Forget
        </button>
      </div>
      ${editing ? html`
        <${Correct}
          name=${one.what}
          text=${one.value}
          close=${() => edit(false)}
          save=${(_event, value) => act(() => daemon.correctFact(one.id, { value }), "Corrected.")}
        />
      ` : null}
    </li>
  `;
}
