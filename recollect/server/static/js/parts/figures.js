// Figures over time: activity, kinds of memories, how fast recall is, how much is injected.
import * as daemon from "../daemon.js";
import { html } from "../html.js";
import { pluralOf } from "../kinds.js";
import { href } from "../route.js";
import { count, ms, plural } from "../format.js";
import { Lines } from "./chart.js";
import { Metric } from "./pieces.js";
import { Card, Empty, Failure, Section, useData } from "./states.js";

const DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const seconds = (day) => new Date(day).getTime() / 1000;

// Days without data are part of the chart.
function filled(points, days) {
  const known = new Map(points.map((one) => [one.day, one]));
  return Array.from({ length: Number(days) }, (_, i) => {
    const day = new Date(Date.now() - (days - 1 - i) * 864e5).toISOString().slice(0, 10);
    return known.get(day) ?? { day, tokens: 0, mean_ms: null, longest_ms: null };
  });
}

const recallLines = (points) => ({
  times: points.map((one) => seconds(one.day)),
  series: [
    { label: "mean", values: points.map((one) => one.mean_ms) },
    { label: "maximum", values: points.map((one) => one.longest_ms) },
  ],
});
const tokenLines = (points) => ({
  times: points.map((one) => seconds(one.day)),
  series: [{ label: "Tokens", values: points.map((one) => one.tokens) }],
});

export function Figures({ project, days }) {
  const asked = { project, days };
  const key = JSON.stringify(asked);
  return html`
    <div>
      <${Section}><${Overview} asked=${asked} k=${key} /><//>
      <div class="grid half">
        <${Section}>
          <${Chart}
            title="Activity"
            load=${() => daemon.activity(asked)}
            k=${key}
            none=${(data) => !data.items.some((one) => one.events)}>
            ${(data) => html`
              <${Lines}
                label="Events and memories per day"
                times=${data.items.map((one) => seconds(one.day))}
                series=${[
                  { label: "Events", values: data.items.map((one) => one.events) },
                  { label: "Memories", values: data.items.map((one) => one.memories) },
                ]}
              />
            `}
          <//>
        <//>
        <${Section}>
          <${Chart}
            title="When you work"
            load=${() =>
              daemon.heatmap({ ...asked, utc_offset_min: -new Date().getTimezoneOffset() })
            }
            k=${key}
            none=${(data) => !data.rows.flat().some(Boolean)}>
            ${(data) => html`<${Heat} rows=${data.rows} />`}
          <//>
        <//>
        <${Section}>
          <${Chart}
            title="Recall latency"
            load=${() => daemon.retrieval(asked)}
            k=${key}
            none=${(data) => !data.timeline.length}>
            ${(data) => html`
              <p class="small soft">
                Latest recalls: median ${ms(data.p50_ms * 1000)}, 95th percentile${" "}
                ${ms(data.p95_ms * 1000)}.
              </p>
              <${Lines}
                label="Recall latency per day"
                unit=" ms"
                ...${recallLines(filled(data.timeline, asked.days))}
              />
            `}
          <//>
        <//>
        <${Section}>
          <${Chart}
            title="Injected tokens"
            load=${() => daemon.retrieval(asked)}
            k=${key}
            none=${(data) => !data.timeline.length}>
            ${(data) => html`
              <p class="small soft">
                Memories were injected for ${count(data.spoke)} of the last${" "}
                ${plural(data.spoke + data.silent, "recall")}.
              </p>
              <${Lines}
                label="Injected tokens per day"
                ...${tokenLines(filled(data.timeline, asked.days))}
              />
            `}
          <//>
        <//>
        <${Section}>
          <${Chart}
            title="Kinds of memory"
            load=${() => daemon.types(asked)}
            k=${key}
            none=${(data) => !Object.keys(data.memories).length}>
            ${(data) => html`
              <${Bars}
                items=${ordered(data.memories).map(
                  ([name, number]) => [pluralOf(name), number],
                )}
              />
            `}
          <//>
        <//>
        <${Section}>
          <${Chart}
            title="Concepts"
            load=${() => daemon.concepts(asked)}
            k=${key}
            none=${(data) => !Object.keys(data.concepts).length}>
            ${(data) => html`
              <${Bars}
                items=${ordered(data.concepts)
                  .slice(0, 14)
                  .map(([name, number]) => [
                    name,
                    number,
                    href("memories", "", { concept: name }),
                  ])}
              />
            `}
          <//>
        <//>
        <${Section}>
          <${Chart}
            title="Quality gate"
            load=${daemon.queue}
            k=${key}
            none=${(data) => !data.items.some((one) => one.last_run)}>
            ${(data) => html`
              <${Gate} runs=${data.items.map((one) => one.last_run).filter(Boolean)} />
            `}
          <//>
        <//>
      </div>
    </div>
  `;
}

function Chart({ title, load, k, none, children }) {
  const empty = { when: none, show: html`<${Empty} title="Nothing in this period" />` };
  return html`<${Card} title=${title} state=${useData(load, k)} empty=${empty}>${children}<//>`;
}

// The daemon tells the fifty most frequent ones.
const concepts = (found) => {
  const number = Object.keys(found.concepts).length;
  return number < 50 ? count(number) : "50 or more";
};

function Overview({ asked, k }) {
  const state = useData(() => daemon.overview(asked), k, ["reset"]);
  const data = state.data;
  const found = useData(() => daemon.concepts(asked), k).data;
  if (state.error) return html`<${Failure} error=${state.error} again=${state.again} />`;
  return html`
    <div class="grid metrics">
      <${Metric} value=${data ? count(data.memories) : "…"} label="memories made" />
      <${Metric} value=${data ? count(data.projects) : "…"} label="projects" />
      <${Metric} value=${found ? concepts(found) : "…"} label="concepts" />
      <${Metric} value=${data ? count(data.sessions) : "…"} label="sessions" />
      <${Metric} value=${data ? count(data.events) : "…"} label="events" />
      <${Metric} value=${data ? count(data.retrievals) : "…"} label="recalls" />
      <${Metric}
        value=${data ? count(data.economics.injected_tokens) : "…"}
        label="tokens injected"
      />
      <${Metric}
        value=${data ? count(data.economics.discovery_tokens) : "…"}
        label="tokens of work recorded"
      />
    </div>
  `;
}

const ordered = (counts) =>
  Object.entries(counts).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));

const Bars = ({ items }) => {
  const most = Math.max(1, ...items.map(([, value]) => value));
  return html`
    <div class="parts">
      ${items.map(([name, value, to]) => html`
        <span class="clip">
          ${to ? html`<a href=${to}>${name}</a>` : String(name).replaceAll("_", " ")}
        </span>
        <span class="bar"><i style=${{ width: `${(100 * value) / most}%` }}></i></span>
        <span class="num">${count(value)}</span>
      `)}
    </div>
  `;
};

function Heat({ rows }) {
  const most = Math.max(1, ...rows.flat());
  return html`
    <div class="heat" role="img" aria-label="Events by day of the week and hour">
      ${rows.flatMap((row, day) => [
        html`<span>${DAYS[day]}</span>`,
        ...row.map((value, at) => html`
          <i
            class=${value ? `l${Math.max(1, Math.ceil((4 * value) / most))}` : ""}
            title=${`${DAYS[day]} ${at}:00 · ${plural(value, "event")}`}></i>
        `),
      ])}
      <span></span>
      ${Array.from({ length: 24 }, (_, at) => html`<span>${at % 6 ? "" : at}</span>`)}
    </div>
  `;
}

function Gate({ runs }) {
  const dropped = {};
  let kept = 0;
  for (const run of runs) {
    kept += run.kept;
    for (const [reason, number] of Object.entries(run.dropped))
      dropped[reason] = (dropped[reason] ?? 0) + number;
  }
  const total = Object.values(dropped).reduce((sum, value) => sum + value, 0);
  return html`
    <div>
      <p class="soft">
        In the last run of each project,${" "}
        ${plural(kept, "memory was", "memories were")} kept and${" "}
        ${count(total)} rejected${total ? ", because:" : "."}
      </p>
      <${Bars} items=${ordered(dropped)} />
    </div>
  `;
}
