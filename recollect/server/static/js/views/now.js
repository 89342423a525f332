// Now: warnings, totals, the live feed, the latest memories, briefs and sessions.
import * as daemon from "../daemon.js";
import { html } from "../html.js";
import { feed } from "../live.js";
import { nameOf } from "../projects.js";
import { href } from "../route.js";
import { ago, count, plural, sessionState, short } from "../format.js";
import { Ago, Badge, MemoryLine, Metric, ReceiptLine } from "../parts/pieces.js";
import { Empty, Section, Shown, useData } from "../parts/states.js";
import { toast, toastError } from "../parts/toast.js";

const LIVE = ["memory", "summary", "removed"];

export const Now = () => html`
  <div>
    <div class="head">
      <h1>Now</h1>
      <p class="lead">What your agents do and what is remembered of it, live.</p>
    </div>
    <${Section}><${Alarms} /><//>
    <${Section}><${Numbers} /><//>
    <div class="grid two">
      <div class="grid">
        <${Section}>
          <section class="card">
            <header>
              <h2>Live feed</h2>
              <a class="push small" href=${href("timeline")}>Timeline</a>
            </header>
            <${Feed} />
          </section>
        <//>
        <${Section}>
          <section class="card">
            <header>
              <h2>Newest memories</h2>
              <a class="push small" href=${href("memories")}>All</a>
            </header>
            <${Newest} />
          </section>
        <//>
      </div>
      <div class="grid">
        <${Section}>
          <section class="card">
            <header>
              <h2>Latest briefs</h2>
              <a class="push small" href=${href("why")}>Why?</a>
            </header>
            <${Injections} />
          </section>
        <//>
        <${Section}>
          <section class="card">
            <header>
              <h2>Active sessions</h2>
              <a class="push small" href=${href("sessions")}>All</a>
            </header>
            <${Active} />
          </section>
        <//>
      </div>
    </div>
  </div>
`;

function Alarms() {
  const state = useData(daemon.alarms, "", ["reset"]);
  if (state.error)
    return html`
      <div class="notice bad" role="alert">
        ${state.error.message} ${state.error.hint ? html`<code>${state.error.hint}</code>` : null}
      </div>
    `;
  return html`
    <div>
      ${(state.data?.items ?? []).map((one) => html`
        <div
          key=${one.name + one.message}
          class=${`notice ${one.level === "error" ? "bad" : ""}`}
          role="alert">
          <span>${one.message}</span>
          ${one.hint ? html`<code class="push">${one.hint}</code>` : null}
        </div>
      `)}
    </div>
  `;
}

function Numbers() {
  const state = useData(() => daemon.stats(), "", ["event", ...LIVE, "reset"]);
  const data = state.data;
  if (state.error) return null;
  return html`
    <div class="grid metrics">
      <${Metric}
        value=${data ? count(data.records) : "…"}
        label="memories"
        to=${href("memories")}
      />
      <${Metric} value=${data ? count(data.events) : "…"} label="events" to=${href("timeline")} />
      <${Metric}
        value=${data ? count(data.projects) : "…"}
        label="projects"
        to=${href("insights")}
      />
      <${Metric}
        value=${data ? count(data.sessions) : "…"}
        label="sessions"
        to=${href("sessions")}
      />
      <${Metric}
        value=${data ? count(Object.keys(data.concepts ?? {}).length) : "…"}
        label="concepts"
        to=${href("insights")}
      />
    </div>
  `;
}

const WORDS = {
  event: (data) => [
    `${data.host ?? ""} ${String(data.kind ?? "event").replace("_", " ")}`,
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
  const recent = useData(() => daemon.timeline({ before: 8, after: 0 }), "", ["reset"]);
  if (!feed.value.length)
    return html`
      <${Shown}
        state=${recent}
        empty=${{ when: (data) => !data.items.length, show: html`<${First} />` }}>
        ${(data) => html`
          <div>
            <p class="state small">
              Nothing has happened since you opened this page. Before that:
            </p>
            <ul class="items">
              ${[...data.items].reverse().map((record) => html`
                <li key=${record.record_id}>
                  <${MemoryLine} record=${record} project=${nameOf(record.namespace)} />
                </li>
              `)}
            </ul>
          </div>
        `}
      <//>
    `;
  return html`
    <ul class="items" aria-live="polite" aria-label="Live feed">
      ${feed.value.slice(0, 30).map((one) => {
        const [what, text, to] = (WORDS[one.kind] ?? (() => [one.kind, "", "#/now"]))(
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
  const sample = async () => {
    try {
      await daemon.addSample();
      toast("Added a project called “sample”. You can remove it in Settings.");
    } catch (error) {
      toastError(error);
    }
  };
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

function Newest() {
  const state = useData(() => daemon.memories({ limit: 8 }), "", [...LIVE, "reset"]);
  return html`
    <${Shown}
      state=${state}
      empty=${{ when: (data) => !data.items.length, show: html`<${Empty} title="None yet" />` }}>
      ${(data) => html`
        <ul class="items">
          ${data.items.map((record) => html`
            <li key=${record.record_id}>
              <${MemoryLine} record=${record} project=${nameOf(record.namespace)} />
            </li>
          `)}
        </ul>
      `}
    <//>
  `;
}

function Injections() {
  const state = useData(() => daemon.receipts({ limit: 6, project: "all" }), "", [
    "receipt",
    "prompt",
    "reset",
  ]);
  return html`
    <${Shown}
      state=${state}
      empty=${{
        when: (data) => !data.items.length,
        show: html`
          <${Empty} title="None yet">
            <p>Each brief that an agent receives is listed here.</p>
          <//>
        `,
      }}>
      ${(data) => html`
        <ul class="items">
          ${data.items.map((one) => html`
            <li key=${one.receipt_id}>
              <${ReceiptLine} receipt=${one} />
            </li>
          `)}
        </ul>
      `}
    <//>
  `;
}

function Active() {
  const state = useData(() => daemon.sessions({ limit: 20 }), "", [
    "session",
    "prompt",
    "event",
    "reset",
  ]);
  const running = (data) => data.items.filter((one) => sessionState(one) === "active");
  return html`
    <${Shown}
      state=${state}
      empty=${{
        when: (data) => !running(data).length,
        show: html`<${Empty} title="No active session" />`,
      }}>
      ${(data) => html`
        <ul class="items">
          ${running(data).map((one) => html`
            <li key=${one.session_id}>
              <a
                class="item"
                href=${href("sessions", one.session_id, { namespace: one.namespace })}>
                <span class="top">
                  <i class="dot good"></i>
                  <span class="title clip">${one.surface}</span>
                  <span class="faint small">${ago(one.last_event_at)}</span>
                </span>
                <span class="small faint">${nameOf(one.namespace)}</span>
              </a>
            </li>
          `)}
        </ul>
      `}
    <//>
  `;
}
