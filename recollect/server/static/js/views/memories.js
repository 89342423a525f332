// Memories: search in three modes, filters in the address, and one memory beside the list.
import * as daemon from "../daemon.js";
import { html, useEffect, useRef, useState } from "../html.js";
import { kindOptions, typeOptions } from "../kinds.js";
import { news } from "../live.js";
import { nameOf, ProjectFilter } from "../projects.js";
import { go, refine, route } from "../route.js";
import { ms } from "../format.js";
import { VirtualList } from "../parts/list.js";
import { MemoryLine, Segments } from "../parts/pieces.js";
import { Empty, Failure, Loading, Section } from "../parts/states.js";
import { Memory } from "./memory.js";

const ROW = 88;
const PAGE = 60;
const FOUND = 100;
const MODES = [
  ["hybrid", "Both"],
  ["keyword", "Words"],
  ["semantic", "Meaning"],
];
const SPANS = [
  ["", "Any time"],
  ["1", "Today"],
  ["7", "This week"],
  ["30", "This month"],
  ["90", "Three months"],
];
const FILTERS = ["project", "kind", "type", "concept", "file", "session_id"];

function filtersOf(params) {
  const filters = Object.fromEntries(FILTERS.map((name) => [name, params[name]]));
  if (params.days) filters.since = new Date(Date.now() - params.days * 864e5).toISOString();
  if (params.since) filters.since = new Date(params.since).toISOString();
  if (params.until) filters.until = new Date(params.until).toISOString();
  if (params.as_of) filters.as_of = new Date(params.as_of).toISOString();
  return filters;
}

// The pages read so far of what the filters select; a search has one page.
function useFound(params) {
  const key = JSON.stringify([
    params.q,
    params.mode,
    params.days,
    params.since,
    params.until,
    params.as_of,
    ...FILTERS.map((name) => params[name]),
  ]);
  const [state, set] = useState({ items: [], next: null, done: false, error: null, key: "" });
  const busy = useRef(false);
  const read = async (fresh) => {
    if (busy.current && !fresh) return;
    busy.current = true;
    try {
      const filters = filtersOf(params);
      if (params.q) {
        const answer = await daemon.search({
          ...filters,
          query: params.q.slice(0, 1000),
          mode: params.mode ?? "hybrid",
          limit: FOUND,
        });
        set({
          items: answer.items.map((one) => ({
            ...one.record,
            score: one.score,
            parts: one.parts,
          })),
          next: null,
          done: true,
          error: null,
          key,
          answer,
        });
      } else {
        const before = fresh ? undefined : state.next;
        const page = await daemon.memories({ ...filters, limit: PAGE, before });
        set((old) => ({
          items: fresh ? page.items : [...old.items, ...page.items],
          next: page.next,
          done: !page.next,
          error: null,
          key,
        }));
      }
    } catch (error) {
      set((old) => ({ ...old, error, done: true, key }));
    }
    busy.current = false;
  };
  const { number, kind } = news.value;
  useEffect(() => {
    const wait = setTimeout(() => read(true), params.q ? 160 : 0);
    return () => clearTimeout(wait);
  }, [key]);
  useEffect(() => {
    if (number && ["memory", "summary", "removed", "reset"].includes(kind)) {
      const wait = setTimeout(() => read(true), 300);
      return () => clearTimeout(wait);
    }
  }, [number]);
  return {
    ...state,
    stale: state.key !== key,
    more: () => read(false),
    again: () => read(true),
  };
}

export function Memories() {
  const { id, params } = route.value;
  const list = useFound(params);
  const set = (name) => (event) => refine({ [name]: event.target.value });
  const chosen = [...FILTERS, "days", "since", "until", "as_of"].filter((name) => params[name]);
  return html`
    <div>
      <div class="head">
        <h1>Memories</h1>
        <p class="lead">What your agents remember. Search it, correct it, delete it.</p>
      </div>
      <div class="filters" role="search">
        <input
          class="grow"
          type="search"
          aria-label="Search memories"
          placeholder="Search by words or meaning…"
          value=${params.q ?? ""}
          onInput=${set("q")}
        />
        <${Segments}
          label="Search by"
          options=${MODES}
          value=${params.mode ?? "hybrid"}
          choose=${(mode) => refine({ mode: mode === "hybrid" ? "" : mode })}
        />
      </div>
      <div class="filters">
        <${ProjectFilter} />
        <${Choice}
          label="Kind"
          options=${kindOptions()}
          value=${params.kind}
          change=${set("kind")}
        />
        <${Choice}
          label="Type"
          options=${typeOptions()}
          value=${params.type}
          change=${set("type")}
        />
        <${Choice} label="Time" options=${SPANS} value=${params.days} change=${set("days")} />
        <label class="row-line small soft">
          As of <input type="date" value=${params.as_of ?? ""} onChange=${set("as_of")} />
        </label>
        ${["concept", "file", "session_id"]
          .filter((name) => params[name])
          .map((name) => html`
            <button
              key=${name}
              class="chip"
              onClick=${() => refine({ [name]: "" })}
              aria-label=${`Remove the filter ${name}`}>
              ${name.replace("_id", "")}: ${params[name]} ×
            </button>
          `)}
        ${chosen.length ? html`
          <button class="plain" onClick=${() => go("memories", id, { q: params.q })}>
            Clear filters
          </button>
        ` : null}
      </div>
      <div class=${id ? "grid two" : "grid"}>
        <${Section}>
          <section class="card" aria-label="Found memories">
            <header>
              <h2>
                ${params.q
                  ? "Best first"
                  : params.as_of
                    ? `As of ${params.as_of}`
                    : "Newest first"}
              </h2>
              ${list.answer && params.q ? html`
                <span class="push small faint">
                  ${list.answer.semantic ? "" : "by words only · "}
                  ${ms(list.answer.latency_ms * 1000)}
                </span>
              ` : null}
            </header>
            <${Listed} list=${list} params=${params} id=${id} />
          </section>
        <//>
        ${id ? html`
          <${Section} key=${id}><${Memory} id=${id} params=${params} /><//>
        ` : null}
      </div>
    </div>
  `;
}

const Choice = ({ label, options, value, change }) => html`
  <select aria-label=${label} value=${value ?? ""} onChange=${change}>
    ${options.map(([key, words]) => html`
      <option key=${key} value=${key}>${words}</option>
    `)}
  </select>
`;

function Listed({ list, params, id }) {
  if (list.error && !list.items.length)
    return html`<${Failure} error=${list.error} again=${list.again} />`;
  if (!list.key) return html`<${Loading} lines=${8} />`;
  if (!list.items.length && list.done)
    return params.q || Object.keys(params).length ? html`
      <${Empty} title="No matches">
        <p>Try fewer filters or other words, or search by meaning.</p>
      <//>
    ` : html`
      <${Empty} title="No memories yet">
        <p>
          Connect an agent with <code>recollect install</code> and work as usual, bring your
          history with <code>recollect import</code>, or write something down:${" "}
          <code>recollect add "…"</code>
        </p>
      <//>
    `;
  return html`
    <${VirtualList}
      label="Memories"
      items=${list.items}
      height=${ROW}
      done=${list.done}
      more=${list.more}
      row=${(record) => html`
        <${MemoryLine}
          record=${record}
          project=${nameOf(record.namespace)}
          current=${record.record_id === id}
          params=${params}
        />
      `}
    />
  `;
}
