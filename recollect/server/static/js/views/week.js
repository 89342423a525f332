// This week: what was learned and changed, what waits for a decision, what agents were told and
// what never was used, whether all is well and what it costs. Live.
import * as daemon from "../daemon.js";
import { html, useEffect, useState } from "../html.js";
import { feed } from "../live.js";
import { agentOf } from "../kinds.js";
import { nameOf, namespaceOf, ProjectFilter } from "../projects.js";
import { href, refine, route } from "../route.js";
import { ago, capital, count, plural, sessionState, short } from "../format.js";
import { BeliefGroup, grouped } from "../parts/belief.js";
import { Figures } from "../parts/figures.js";
import { Ago, Badge, Kind, ReceiptLine, withPrompt, withReceipt } from "../parts/pieces.js";
import { Empty, Section, Shown, useData } from "../parts/states.js";
import { attempt, toast } from "../parts/toast.js";

const LIVE = ["memory", "receipt"];
const MINUTE_MS = 60_000;
const DAY_MS = 864e5;
const OLD_DAYS = 30;
const MOST = 100; // of a project, so many learned and so many ended are read
const NOW_MS = 10 * MINUTE_MS; // a session without an event for so long is not going on
const SPANS = [
  ["1", "Today"],
  ["7", "This week"],
  ["30", "This month"],
];
const IN = { 1: "today", 7: "this week", 30: "this month" };

// A brief is counted here; only a belief, or something that went, has the week read again.
const patched =
  ({ project }) =>
  (data, kind, told) => {
    if (project && told.namespace !== namespaceOf(project)) return data;
    if (kind === "memory") return told.removed || told.kind === "knowledge" ? undefined : data;
    return { ...data, briefs: data.briefs + 1, tokens: data.tokens + told.tokens };
  };

export function ThisWeek() {
  const { params } = route.value;
  const days = IN[params.days] ? params.days : "7";
  const asked = { project: params.project, days };
  const state = useData(() => daemon.week(asked), JSON.stringify(asked), LIVE, patched(asked));
  return html`
    <div>
      <div class="head">
        <h1>${SPANS.find(([name]) => name === days)[1]}</h1>
        <div class="row-line push">
          <${ProjectFilter} />
          <select
            aria-label="Period"
            value=${days}
            onChange=${(event) => refine({ days: event.target.value })}>
            ${SPANS.map(([name, words]) => html`
              <option key=${name} value=${name}>${words}</option>
            `)}
          </select>
        </div>
      </div>
      <${Section}><${Health} week=${state.data} span=${IN[days]} /><//>
      <div class="grid two">
        <${Section}>
          <${Shown} state=${state}>
            ${(data) => html`<${Learned} data=${data} again=${state.again} span=${IN[days]} />`}
          <//>
        <//>
        <div class="grid">
          <${Section}><${Told} project=${params.project} data=${state.data} /><//>
          <${Section}><${Use} data=${state.data} span=${IN[days]} /><//>
          <${Section}><${Live} /><//>
        </div>
      </div>
      <${Section}><${More} ...${asked} /><//>
    </div>
  `;
}

// One line that says whether all is well, one that says what it costs; and what is not well.
function Health({ week, span }) {
  const health = useData(daemon.health, "", ["reset"]);
  const alarms = useData(daemon.alarms, "", ["reset"]);
  useEffect(() => {
    const timer = setInterval(() => {
      health.again();
      alarms.again();
    }, MINUTE_MS);
    return () => clearInterval(timer);
  }, []);
  const error = health.error ?? alarms.error;
  if (error)
    return html`
      <div class="notice bad" role="alert">
        ${error.message} ${error.hint ? html`<code>${error.hint}</code>` : null}
      </div>
    `;
  if (!health.data || !alarms.data) return null;
  const serious = alarms.data.items.filter((one) => one.level !== "note");
  const heard = Object.entries(health.data.hosts ?? {}).sort((a, b) => (a[1] < b[1] ? 1 : -1));
  const { provider, budget } = health.data.extraction ?? {};
  return html`
    <div>
      ${alarms.data.items.map((one) => html`
        <div
          key=${one.name + one.message}
          class=${`notice ${one.level === "error" ? "bad" : ""}`}
          role="alert">
          <span>${capital(one.message)}</span>
          ${one.hint ? html`<code class="push">${one.hint}</code>` : null}
        </div>
      `)}
      <div class="card lines">
        <p>
          <i class=${`dot ${serious.length ? "warn" : "good"}`}></i>
          <span>
            <a href=${href("settings")}>
              ${serious.length ? plural(serious.length, "warning") : "All is well"}
            </a>
            ${heard.length
              ? `. Last heard: ${heard
                  .slice(0, 3)
                  .map(([name, at]) => `${agentOf(name)} ${ago(at)}`)
                  .join(", ")}.`
              : ". No agent was heard yet."}
          </span>
        </p>
        <p>
          <i class="dot"></i>
          <span>
            ${week
              ? `${plural(week.tokens, "token")} added to your agents' prompts ${span}, ` +
                `in ${plural(week.briefs, "look-up")}; `
              : ""}
            ${!provider || provider === "none"
              ? "Recollect itself spent nothing on models."
              : `${provider} today: ${count(budget.tokens)} of ${count(budget.daily_tokens)} ` +
                `tokens, about $${budget.usd.toFixed(2)} of $${budget.daily_usd}.`}
          </span>
        </p>
        <${Stale} />
        ${week?.waiting.length ? html`
          <p>
            <i class="dot warn"></i>
            <span>
              <a href=${href("beliefs", "", { show: "waiting" })}>
                ${plural(week.waiting.length, "belief")}
              </a>
              ${" "}${week.waiting.length === 1 ? "waits" : "wait"} for your decision.
            </span>
          </p>
        ` : null}
      </div>
    </div>
  `;
}

// Counted apart from the rest, so that nothing waits for it.
function Stale() {
  const state = useData(() => daemon.counts({}), "", ["reset"]);
  if (!state.data) return null;
  const { drifted = 0, orphaned = 0 } = state.data.freshness;
  const freshness = drifted || !orphaned ? "drifted" : "orphaned";
  return html`
    <p>
      <i class=${`dot ${drifted + orphaned ? "warn" : "good"}`}></i>
      <span>
        <a href=${href("memories", "", { freshness })}>
          ${plural(drifted + orphaned, "stale memory", "stale memories")}
        </a>:${" "}
        ${[
          drifted ? `${count(drifted)} about files that changed since` : "",
          orphaned ? `${count(orphaned)} about files that are gone` : "",
        ]
          .filter(Boolean)
          .join(", ") || "no file that a memory is about has changed"}.
      </span>
    </p>
  `;
}

function Learned({ data, again, span }) {
  const shared = { titles: data.titles, kept: data.kept, again };
  const at = (one) => (one.state === "ended" ? one.valid_until : one.created_at);
  const changed = grouped([...data.learned, ...data.ended], at);
  const [waiting, old] = byAge(data.waiting);
  const some = (number, what) =>
    number ? `${count(number)}${number < MOST ? "" : " or more"} ${what}` : "";
  const note = (items) => {
    const over = items.filter((one) => one.state === "ended").length;
    return [some(items.length - over, "learned"), some(over, "ended")].filter(Boolean).join(", ");
  };
  return html`
    <div class="grid">
      ${changed.map(([namespace, items]) => html`
        <${BeliefGroup}
          key=${namespace}
          name=${nameOf(namespace)}
          note=${note(items)}
          items=${items}
          few=${8}
          ...${shared}
        />
      `)}
      ${changed.length ? null : html`<section class="card"><${Nothing} span=${span} /></section>`}
      ${data.waiting.length ? html`
        <${BeliefGroup}
          name="Waiting for you"
          note=${html`
            <a href=${href("beliefs", "", { show: "waiting" })}>${count(data.waiting.length)}</a>
          `}
          items=${waiting}
          few=${2}
          mixed
          below=${old.length ? html`
            <p class="state small">
              <a href=${href("beliefs", "", { show: "waiting" })}>
                ${count(old.length)} older than ${OLD_DAYS} days
              </a>
            </p>
          ` : null}
          ...${shared}
        />
      ` : null}
    </div>
  `;
}

// What was said lately, newest first, and what is old. A dispute is as new as its newer side.
function byAge(items) {
  const newer = new Map(items.map((one) => [one.record_id, one.valid_from]));
  const said = (one) => new Date(newer.get(one.ended_by) ?? one.valid_from);
  const sorted = [...items].sort((a, b) => said(b) - said(a));
  const first = sorted.findIndex((one) => Date.now() - said(one) > OLD_DAYS * DAY_MS);
  return first < 0 ? [sorted, []] : [sorted.slice(0, first), sorted.slice(first)];
}

function Nothing({ span }) {
  const stats = useData(() => daemon.stats(), "", ["memory"], (data) =>
    data.records ? data : undefined,
  );
  if (stats.data && !stats.data.records) return html`<${First} />`;
  return html`
    <${Empty} title=${`No new rule, decision or correction ${span}`}>
      <p>
        What holds is in <a href=${href("beliefs")}>Beliefs</a>, everything else in${" "}
        <a href=${href("memories")}>Memories</a>.
      </p>
    <//>
  `;
}

function Told({ project, data }) {
  const asked = { limit: 6, project: project ?? "all" };
  const state = useData(
    () => daemon.receipts(asked),
    asked.project,
    ["receipt"],
    withReceipt(asked),
  );
  const { useful = 0, wrong = 0, never = 0 } = data?.verdicts ?? {};
  return html`
    <section class="card" aria-label="Told to agents">
      <header>
        <h2>Told to agents</h2>
        <a class="push small" href=${href("why")}>All</a>
      </header>
      <${Shown}
        state=${state}
        empty=${{
          when: (found) => !found.items.length,
          show: html`
            <${Empty} title="Nothing yet">
              <p>Each text that an agent receives is listed here.</p>
            <//>
          `,
        }}>
        ${(found) => html`
          <ul class="items">
            ${found.items.map((one) => html`
              <li key=${one.receipt_id}>
                <${ReceiptLine} receipt=${one} />
              </li>
            `)}
          </ul>
        `}
      <//>
      ${useful + wrong + never ? html`
        <p class="state small">
          Your verdicts: ${count(useful)} useful, ${count(wrong)} wrong, ${count(never)} never
          again.
        </p>
      ` : null}
    </section>
  `;
}

// What agents were told of the beliefs, and what never came up.
function Use({ data, span }) {
  const [unused, show] = useState(false);
  if (!data) return null;
  const items = unused ? data.unused : data.used;
  return html`
    <section class="card" aria-label="Used and never used">
      <header class="tabs">
        <h2 class="hidden-visually">Used and never used</h2>
        <button aria-pressed=${!unused} onClick=${() => show(false)}>
          Used ${span} (${count(data.used_count)})
        </button>
        <button aria-pressed=${unused} onClick=${() => show(true)}>
          Never used (${count(data.unused_count)})
        </button>
      </header>
      ${items.length ? html`
        <ul class="items">
          ${items.map((one) => html`
            <li key=${one.record_id}>
              <a class="item" href=${href("memories", one.record_id)}>
                <span class="top">
                  <${Kind} record=${one} />
                  <span class="title clip" title=${one.title}>${one.title}</span>
                  ${unused ? html`<${Ago} at=${one.created_at} />` : html`
                    <span class="faint small">${plural(one.access_count, "time")}</span>
                  `}
                </span>
              </a>
            </li>
          `)}
        </ul>
      ` : html`
        <p class="state small">
          ${unused ? "Every belief was told to an agent." : "No belief was told to an agent."}
        </p>
      `}
    </section>
  `;
}

// The sessions that go on now, or else the last ones; and what happens from now on.
function Live() {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((times) => times + 1), MINUTE_MS);
    return () => clearInterval(timer);
  }, []);
  const state = useData(
    () => daemon.sessions({ limit: 20 }),
    "",
    ["session", "prompt"],
    withPrompt,
  );
  const known = state.data?.items ?? [];
  const running = known.filter(
    (one) =>
      sessionState(one) === "active" && Date.now() - new Date(one.last_event_at) < NOW_MS,
  );
  const title = running.length ? "Happening now" : "Recent sessions";
  return html`
    <section class="card" aria-label=${title}>
      <header>
        <h2>${title}</h2>
        <a class="push small" href=${href("sessions")}>Sessions</a>
      </header>
      <${Few} sessions=${(running.length ? running : known).slice(0, 4)} now=${running.length} />
      ${feed.value.length ? html`<${Feed} />` : html`
        <p class="state small">What happens from now on is listed here.</p>
      `}
    </section>
  `;
}

const WORDS = {
  event: (data) => [
    `${agentOf(data.host ?? "")} ${String(data.kind ?? "event").replace("_", " ")}`,
    data.preview ?? data.session_id,
    href("sessions", data.session_id, { namespace: data.namespace }),
  ],
  prompt: (data) => [
    "prompt",
    data.preview ?? data.session_id,
    href("sessions", data.session_id, { namespace: data.namespace }),
  ],
  memory: (data) => ["remembered", data.title, href("memories", data.record_id)],
  summary: (data) => ["summary", data.title, href("memories", data.record_id)],
  checkpoint: (data) => [
    "checkpoint",
    data.task,
    href("sessions", data.session_id, { namespace: data.namespace }),
  ],
  session: (data) => [
    "session",
    data.session_id,
    href("sessions", data.session_id, { namespace: data.namespace }),
  ],
  receipt: (data) => [
    data.injected
      ? `injected ${plural(data.injected.length ?? data.injected, "memory", "memories")}`
      : "nothing to inject",
    data.query,
    href("why", data.receipt_id),
  ],
  removed: (data) => [
    "removed",
    plural((data.record_ids ?? []).length, "memory", "memories"),
    href("memories"),
  ],
  run: (data) => ["extraction", data.text ?? data.outcome, href("settings")],
};

function Feed() {
  return html`
    <ul class="items" aria-live="polite" aria-label="Live feed">
      ${feed.value.slice(0, 12).map((one) => {
        const [what, text, to] = (WORDS[one.kind] ?? (() => [one.kind, "", "#/week"]))(
          one.data ?? {},
        );
        return html`
          <li key=${one.id}>
            <a class="item" href=${to}>
              <span class="top">
                <${Badge}
                  tone=${
                    one.kind === "memory" || one.kind === "summary"
                      ? "accent"
                      : one.kind === "receipt"
                        ? "info"
                        : ""
                  }>
                  ${what}
                <//>
                <span class="clip title">${short(text, 160)}</span>
                <${Ago} at=${new Date(one.at).toISOString()} />
              </span>
              <span class="small faint">
                ${one.data?.namespace ? nameOf(one.data.namespace) : ""}
              </span>
            </a>
          </li>
        `;
      })}
    </ul>
  `;
}

function First() {
  const sample = () =>
    attempt(async () => {
      await daemon.addSample();
      toast("Added a project called “sample”. You can remove it in Settings.");
    });
  return html`
    <${Empty} title="No memories yet">
      <p>Connect the agents you use, then work as usual:</p>
      <p><code>recollect install</code></p>
      <p>or import the history that is already on this machine:</p>
      <p><code>recollect import</code></p>
      <div class="row-line"><button onClick=${sample}>Show me a sample</button></div>
    <//>
  `;
}

const Few = ({ sessions, now }) =>
  sessions.length ? html`
    <ul class="items">
      ${sessions.map((one) => html`
        <li key=${one.session_id}>
          <a
            class="item"
            href=${href("sessions", one.session_id, { namespace: one.namespace })}>
            <span class="top">
              <i class=${now ? "dot good" : "dot"}></i>
              <span class="title clip">${one.title || agentOf(one.surface)}</span>
              <span class="faint small">${ago(one.last_event_at)}</span>
            </span>
            <span class="small faint">${agentOf(one.surface)} in ${nameOf(one.namespace)}</span>
          </a>
        </li>
      `)}
    </ul>
  ` : null;

// Charts are read when they are opened.
function More({ project, days }) {
  const [open, set] = useState(false);
  return html`
    <details class="more" onToggle=${(event) => set(event.target.open)}>
      <summary>Figures</summary>
      ${open ? html`<${Figures} project=${project} days=${days} />` : null}
    </details>
  `;
}
