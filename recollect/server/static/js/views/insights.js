// Insights: when you work, what is learned, how fast and how much memory speaks, what it costs.
import * as daemon from "../daemon.js";
import { html } from "../html.js";
import { ProjectFilter } from "../projects.js";
import { href, refine, route } from "../route.js";
import { count, ms, plural } from "../words.js";
import { Lines } from "../parts/chart.js";
import { Metric } from "../parts/pieces.js";
import { Empty, Section, Shown, useData } from "../parts/states.js";

const DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const seconds = (day) => new Date(day).getTime() / 1000;

export function Insights() {
  const { params } = route.value;
  const asked = { project: params.project, days: params.days ?? 30 };
  const key = JSON.stringify(asked);
  return html`<div>
    <div class="head"><h1>Insights</h1><p class="lead">How your memory grows, and what it does for you.</p></div>
    <div class="filters"><${ProjectFilter} /><select aria-label="Period" value=${String(asked.days)} onChange=${(event) => refine({ days: event.target.value })}><option value="7">A week</option><option value="30">A month</option><option value="90">Three months</option><option value="365">A year</option></select></div>
    <${Section}><${Overview} asked=${asked} k=${key} /><//>
    <div class="grid half">
      <${Section}><${Card} title="Activity" load=${() => daemon.activity(asked)} k=${key} none=${(data) => !data.items?.length}>${(data) => html`<${Lines} label="Events and memories a day" times=${data.items.map((one) => seconds(one.day))} series=${[{ label: "Events", values: data.items.map((one) => one.events) }, { label: "Memories", values: data.items.map((one) => one.memories ?? one.records) }]} />`}<//><//>
      <${Section}><${Card} title="When you work" load=${() => daemon.heatmap(asked)} k=${key} none=${(data) => !(data.cells ?? data.items)?.length}>${(data) => html`<${Heat} cells=${data.cells ?? data.items} />`}<//><//>
      <${Section}><${Card} title="Recall" load=${() => daemon.retrieval(asked)} k=${key} none=${(data) => !data.items?.length}>${(data) => html`<${Lines} label="Latency of recall, a day" unit=" ms" times=${data.items.map((one) => seconds(one.day))} series=${[{ label: "median", values: data.items.map((one) => one.p50_ms) }, { label: "slow (95 %)", values: data.items.map((one) => one.p95_ms) }]} />`}<//><//>
      <${Section}><${Card} title="Injected tokens" load=${() => daemon.retrieval(asked)} k=${key} none=${(data) => !data.items?.length}>${(data) => html`<${Lines} label="Injected tokens a day" times=${data.items.map((one) => seconds(one.day))} series=${[{ label: "Tokens", values: data.items.map((one) => one.tokens) }, { label: "Prompts that got something", values: data.items.map((one) => one.injected) }]} />`}<//><//>
      <${Section}><${Card} title="Kinds of memory" load=${() => daemon.types(asked)} k=${key} none=${(data) => !data.items?.length}>${(data) => html`<${Bars} items=${data.items.map((one) => [one.name, one.count])} />`}<//><//>
      <${Section}><${Card} title="Concepts" load=${() => daemon.concepts(asked)} k=${key} none=${(data) => !data.items?.length}>${(data) => html`<${Bars} items=${data.items.slice(0, 14).map((one) => [one.name, one.count, href("memories", "", { concept: one.name })])} />`}<//><//>
      <${Section}><${Card} title="Quality gate" load=${daemon.queue} k=${key} none=${(data) => !data.runs?.length}>${(data) => html`<${Gate} runs=${data.runs} />`}<//><//>
      <${Section}><${Card} title="Language models" load=${daemon.queue} k=${key} none=${() => false}>${(data) => html`<${Cost} data=${data} />`}<//><//>
    </div>
  </div>`;
}

function Card({ title, load, k, none, children }) {
  const state = useData(load, k);
  return html`<section class="card" aria-label=${title}><header><h2>${title}</h2></header><div class="body"><${Shown} state=${state} empty=${{ when: none, show: html`<${Empty} title="Nothing in this time" />` }}>${children}<//></div></section>`;
}

function Overview({ asked, k }) {
  const state = useData(() => daemon.overview(asked), k, ["reset"]);
  const economics = useData(() => daemon.tokens(asked), k);
  const data = state.data ?? {};
  const saved = economics.data;
  return html`<div class="grid metrics">
    <${Metric} value=${count(data.memories ?? data.records)} label="memories" /><${Metric} value=${count(data.sessions)} label="sessions" /><${Metric} value=${count(data.prompts)} label="prompts" />
    <${Metric} value=${data.injected != null && data.prompts ? `${Math.round((100 * data.injected) / Math.max(1, data.retrievals ?? data.prompts))} %` : "–"} label="of recalls spoke" />
    <${Metric} value=${saved ? count(saved.read_tokens ?? saved.injected) : "…"} label="tokens injected" /><${Metric} value=${saved ? count(saved.discovery_tokens ?? saved.work) : "…"} label="tokens it took to learn" />
  </div>`;
}

const Bars = ({ items }) => {
  const most = Math.max(1, ...items.map(([, value]) => value));
  return html`<div class="parts">${items.map(([name, value, to]) => html`<span class="clip">${to ? html`<a href=${to}>${name}</a>` : String(name).replaceAll("_", " ")}</span><span class="bar"><i style=${{ width: `${(100 * value) / most}%` }}></i></span><span class="num">${count(value)}</span>`)}</div>`;
};

function Heat({ cells }) {
  const grid = DAYS.map(() => Array(24).fill(0));
  for (const cell of cells) grid[cell.weekday][cell.hour] += cell.count ?? cell.events;
  const most = Math.max(1, ...grid.flat());
  return html`<div><div class="heat" role="img" aria-label="Events by day of the week and hour">${grid.flatMap((row, day) => [html`<span>${DAYS[day]}</span>`, ...row.map((value, at) => html`<i class=${value ? `l${Math.max(1, Math.ceil((4 * value) / most))}` : ""} title=${`${DAYS[day]} ${at}:00 · ${plural(value, "event")}`}></i>`)])}<span></span>${Array.from({ length: 24 }, (_, at) => html`<span>${at % 6 ? "" : at}</span>`)}</div></div>`;
}

function Gate({ runs }) {
  const dropped = {};
  let kept = 0;
  for (const run of runs) {
    kept += run.kept ?? 0;
    for (const [reason, number] of Object.entries(run.dropped ?? {})) dropped[reason] = (dropped[reason] ?? 0) + number;
  }
  const total = Object.values(dropped).reduce((sum, value) => sum + value, 0);
  return html`<div><p class="soft">${count(kept)} kept, ${count(total)} kept out, in the last ${plural(runs.length, "run")}.</p><${Bars} items=${Object.entries(dropped).sort((a, b) => b[1] - a[1])} /></div>`;
}

function Cost({ data }) {
  const budget = data.budget ?? {};
  if (!data.provider || data.provider === "none") return html`<p>Extraction goes by rules. No model is asked, nothing leaves this machine, nothing is spent.</p>`;
  return html`<dl class="facts"><dt>Provider</dt><dd>${data.provider}</dd><dt>Today</dt><dd>${count(budget.tokens ?? 0)} of ${count(budget.daily_tokens ?? 0)} tokens</dd><dt>Cost</dt><dd>about $${(budget.usd ?? 0).toFixed(3)}${budget.daily_usd ? ` of $${budget.daily_usd}` : ""}</dd></dl>`;
}
