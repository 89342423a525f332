// Sessions, day by day; one of them as a trace: each prompt, what the agent was told with it, what
// was done and what came of it. Also the raw events, and every change to memories.
import * as daemon from "../daemon.js";
import { html, useState } from "../html.js";
import { agentOf, isSummary } from "../kinds.js";
import { nameOf, ProjectFilter, projectOf } from "../projects.js";
import { go, href, refine, route } from "../route.js";
import {
  count, dayOf, EVENTS, hour, plural, sessionState, short, TRIGGER, when,
} from "../format.js";
import { EraseButton } from "../parts/erase.js";
import { Changes, Events } from "../parts/logs.js";
import { Badge, MemoryLine, Segments, withPrompt } from "../parts/pieces.js";
import { Empty, Section, Shown, useData, usePages } from "../parts/states.js";
import { toast } from "../parts/toast.js";

const TONE = { active: "good", completed: "", failed: "bad", idle: "" };
const LEAD = {
  "": "Every conversation with an agent, and where it stopped.",
  events: "What agents reported, as it was stored.",
  changes: "Every change to memories; most can be undone.",
};

export function Sessions() {
  const { id, params } = route.value;
  const show = LEAD[params.show] ? params.show : "";
  return html`
    <div>
      <div class="head">
        <h1>Sessions</h1>
        <p class="lead">${LEAD[show]}</p>
      </div>
      <div class="filters">
        <${Segments}
          label="Show"
          options=${[
            ["", "Sessions"],
            ["events", "Events"],
            ["changes", "Changes"],
          ]}
          value=${show}
          choose=${(name) => refine({ show: name })}
        />
        <${ProjectFilter} />
      </div>
      <${Section} key=${show}>
        ${show === "events"
          ? html`<${Events} project=${params.project} />`
          : show === "changes"
            ? html`<${Changes} project=${params.project} />`
            : html`
              <div class=${id ? "grid master" : "grid"}>
                <${Section}><${List} id=${id} params=${params} /><//>
                ${id ? html`
                  <${Section} key=${id}><${One} id=${id} params=${params} /><//>
                ` : null}
              </div>
            `}
      <//>
    </div>
  `;
}

function List({ id, params }) {
  const state = usePages(
    (before) => daemon.sessions({ project: params.project, limit: 50, before }),
    params.project ?? "",
    ["session", "prompt"],
    withPrompt,
  );
  const days = Map.groupBy(state.items, (one) => dayOf(one.started_at));
  return html`
    <section class="card" aria-label="Sessions">
      <${Shown}
        state=${state}
        empty=${{
          when: (data) => !data.items.length,
          show: html`
            <${Empty} title="No sessions yet">
              <p>Connect an agent: <code>recollect install</code></p>
            <//>
          `,
        }}>
        ${() => html`
          <div>
            ${[...days].map(([day, some]) => html`
              <section key=${day} aria-label=${day}>
                <h2 class="day">${day}</h2>
                <ul class="items">
                  ${some.map((one) => html`
                    <${Line}
                      key=${one.namespace + one.session_id}
                      one=${one}
                      current=${one.session_id === id}
                      params=${params}
                    />
                  `)}
                </ul>
              </section>
            `)}
            ${state.more ? html`
              <div class="state"><button onClick=${state.more}>Show more</button></div>
            ` : null}
          </div>
        `}
      <//>
    </section>
  `;
}

const Line = ({ one, current, params }) => html`
  <li>
    <a
      class="item"
      aria-current=${current ? "true" : null}
      href=${href("sessions", one.session_id, { ...params, namespace: one.namespace })}>
      <span class="two-lines title">${one.title || agentOf(one.surface)}</span>
      <span class="row-line meta small faint">
        <span>${hour(one.started_at)}</span>
        ${["active", "failed"].includes(sessionState(one)) ? html`
          <${Badge} tone=${TONE[sessionState(one)]}>${sessionState(one)}<//>
        ` : null}
        <span>${agentOf(one.surface)}</span>
        <span>${nameOf(one.namespace)}</span>
        <span>${lasted(one)}</span>
      </span>
    </a>
  </li>
`;

function lasted(one) {
  const minutes = Math.round((new Date(one.last_event_at) - new Date(one.started_at)) / 6e4);
  if (minutes < 1) return "under 1 min";
  return minutes < 120 ? `${minutes} min` : plural(Math.round(minutes / 60), "hour");
}

function One({ id, params }) {
  const state = useData(() => daemon.session(id), id, ["checkpoint", "summary"], isOf(id));
  return html`
    <section class="card" aria-label="One session">
      <${Shown} state=${state}>
        ${(data) => {
          const { session, checkpoint } = data;
          const summary = data.memories.find(isSummary);
          return html`
            <header>
              <${Badge} tone=${TONE[sessionState(session)]}>${sessionState(session)}<//>
              <h2 class="wrap">${session.title || agentOf(session.surface)}</h2>
              <a class="soft small" href=${href("projects", projectOf(session.namespace))}>
                ${nameOf(session.namespace)}
              </a>
              <span class="push">
                <a
                  class="button"
                  href=${href("sessions", "", { project: params.project })}
                  aria-label="Close this session">
                  Close
                </a>
              </span>
            </header>
            <div class="body grid">
              <p class="small soft">
                ${agentOf(session.surface)}, ${when(session.started_at)},${" "}
                ${lasted(session)} ·${" "}
                ${Object.entries(data.events)
                  .map(([kind, number]) => plural(number, EVENTS[kind] ?? kind))
                  .join(", ")}
              </p>
              ${summary ? html`
                <div>
                  <h3>Summary</h3>
                  <p class="wrap">${summary.summary || summary.title}</p>
                  <${Points} items=${summary.facts} />
                </div>
              ` : null}
              ${checkpoint ? html`
                <${Stopped} checkpoint=${checkpoint} known=${said(summary)} />
              ` : null}
              <div class="row-line">
                <${Resume} id=${id} />
                <a class="button" href=${href("memories", "", { session_id: id })}>Its memories</a>
                <a class="button" href=${href("why", "", { session_id: id })}>Its receipts</a>
                <${EraseButton}
                  label="Erase this session"
                  title="Erase all of this session?"
                  chosen=${{ session_id: id, project: projectOf(session.namespace) }}
                  done=${() => go("sessions", "", { project: params.project })}
                />
                <a
                  class="small push"
                  target="_blank"
                  rel="noopener"
                  href=${`/v1/events?${new URLSearchParams({
                    project: "all",
                    session_id: id,
                    limit: 200,
                  })}`}>
                  Raw events as JSON
                </a>
              </div>
              <${Section}><${Turns} id=${id} /><//>
            </div>
          `;
        }}
      <//>
    </section>
  `;
}

const isOf = (id) => (data, _kind, told) => (told.session_id === id ? undefined : data);

const Points = ({ items }) =>
  items?.length ? html`
    <ul>
      ${items.map((one) => html`<li class="wrap" key=${one}>${one}</li>`)}
    </ul>
  ` : null;

// All that a summary says.
const said = (summary) =>
  summary ? [summary.title, summary.summary, ...(summary.facts ?? [])].join("\n") : "";

// Where it stopped, without what the summary above says.
function Stopped({ checkpoint, known }) {
  const fresh = (texts) => texts.filter((text) => text && !known.includes(text));
  const told = fresh([checkpoint.task, checkpoint.progress]);
  const next = fresh(checkpoint.next_steps ?? []);
  const questions = fresh(checkpoint.questions ?? []);
  if (known && !next.length && !questions.length) return null;
  return html`
    <div>
      <h3>Where it stopped</h3>
      ${known ? null : told.map((text) => html`<p class="wrap" key=${text}>${text}</p>`)}
      ${next.length ? html`
        <h4 class="small soft">Next</h4>
        <${Points} items=${next} />
      ` : null}
      ${questions.length ? html`
        <h4 class="small soft">Open questions</h4>
        <${Points} items=${questions} />
      ` : null}
    </div>
  `;
}

function Resume({ id }) {
  const [text, set] = useState(null);
  const load = async () => {
    try {
      const answer = await daemon.resume(id);
      set(answer.text);
    } catch (error) {
      set(error.message);
    }
  };
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => toast("Copied."),
      () => toast("The browser did not allow copying: select the text and copy it yourself."),
    );
  return text == null ? html`
    <button onClick=${load}>Show the text to resume with</button>
  ` : html`
    <div>
      <pre class="quote" tabindex="0">${text || "There is nothing to resume."}</pre>
      ${text ? html`<button onClick=${copy}>Copy</button>` : null}
    </div>
  `;
}

// --- the trace ---------------------------------------------------------------------------------

function Turns({ id }) {
  const state = usePages(
    (after) => daemon.trace(id, after),
    id,
    ["prompt", "event", "receipt", "memory"],
    isOf(id),
  );
  return html`
    <${Shown}
      state=${state}
      empty=${{
        when: (data) => !data.items.length,
        show: html`<p class="soft">Nothing was recorded in this session.</p>`,
      }}>
      ${(data) => html`
        <div>
          <h3>${plural(data.total, "turn")}</h3>
          <ol class="trace">
            ${state.items.map((turn) => html`<${Turn} key=${turn.event_id} turn=${turn} />`)}
          </ol>
          ${state.more ? html`
            <button onClick=${state.more}>
              Show more of ${count(data.total)} turns
            </button>
          ` : null}
        </div>
      `}
    <//>
  `;
}

const Turn = ({ turn }) => html`
  <li class="turn">
    <p class="row-line small faint">
      <time title=${when(turn.at)}>${hour(turn.at)}</time>
      ${turn.branch ? html`<${Badge}>${turn.branch}<//>` : null}
      ${turn.cut ? html`<span>${count(turn.cut)} characters left out</span>` : null}
    </p>
    ${turn.prompt ? html`<${Long} text=${turn.prompt} kind="prompt" label="You" />` : null}
    ${turn.told.map((one) => html`<${Told} key=${one.receipt_id} one=${one} />`)}
    <${Work} turn=${turn} />
    ${turn.answer ? html`<${Long} text=${turn.answer} kind="answer" label="Agent" />` : null}
    ${turn.learned.length ? html`
      <div class="learned">
        <h4 class="small">Learned</h4>
        <ul class="items">
          ${turn.learned.map((record) => html`
            <li key=${record.record_id}><${MemoryLine} record=${record} /></li>
          `)}
        </ul>
      </div>
    ` : null}
  </li>
`;

const LONG = 600;

function Long({ text, kind, label }) {
  const [all, show] = useState(false);
  const cut = text.length > LONG && !all;
  return html`
    <div class=${`said ${kind}`}>
      <span class="who small">${label}</span>
      <div class="wrap">
        ${cut ? short(text, LONG) : text}
        ${cut ? html`
          ${" "}
          <button class="plain small" onClick=${() => show(true)}>Show all</button>
        ` : null}
      </div>
    </div>
  `;
}

const Told = ({ one }) => html`
  <div class="said told">
    <span class="who small">Told</span>
    ${one.text ? html`
      <details>
        <summary>
          ${plural(one.memories, "memory", "memories")}, ${plural(one.tokens, "token")}
          ${one.trigger === "prompt" ? "" : ` (${TRIGGER[one.trigger] ?? one.trigger})`}
        </summary>
        <pre class="quote">${one.text}</pre>
        <a class="small" href=${href("why", one.receipt_id)}>Why this, and what was left out</a>
      </details>
    ` : html`
      <span class="soft">
        Nothing${one.left_out ? ` of ${plural(one.left_out, "candidate")}` : ""}.${" "}
        <a href=${href("why", one.receipt_id)}>Why</a>
      </span>
    `}
  </div>
`;

function Work({ turn }) {
  const { edited, read, commands, commits, tools, more } = turn;
  if (!edited.length && !read.length && !commands.length && !commits.length)
    return tools ? html`
      <div class="said work">
        <span class="who small">Work</span>
        <span class="soft">${plural(tools, "tool call")}</span>
      </div>
    ` : null;
  return html`
    <div class="said work">
      <span class="who small">Work</span>
      <div>
        <${Paths} words="Edited" paths=${edited} />
        <${Paths} words="Read" paths=${read} />
        ${commands.map((one) => html`
          <div key=${one.command} class="small">
            <i class=${`dot ${one.failed ? "bad" : "good"}`}></i>${" "}
            <code class="wrap">${short(one.command, 200)}</code>
            ${one.failed ? html`
              <span class="bad-ink"> failed${one.error ? `: ${short(one.error, 160)}` : ""}</span>
            ` : null}
          </div>
        `)}
        ${commits.map((one) => html`
          <div key=${one} class="small">Committed “${one}”</div>
        `)}
        ${more ? html`
          <div class="small faint">
            and ${plural(more, "more file or command", "more files and commands")}
          </div>
        ` : null}
      </div>
    </div>
  `;
}

const Paths = ({ words, paths }) =>
  paths.length ? html`
    <div class="small">
      <span class="soft">${words}</span>${" "}
      ${paths.map((file, i) => html`
        ${i ? ", " : ""}
        <a class="mono" key=${file} title=${file} href=${href("memories", "", { file })}>
          ${file.split("/").at(-1)}</a>
      `)}
    </div>
  ` : null;
