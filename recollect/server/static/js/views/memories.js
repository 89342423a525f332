// Memories: search and narrow them, choose some, and one memory beside the list. The filters are
// part of the address. Keys: j and k move, x chooses, Enter opens, / searches, Esc goes back.
import * as daemon from "../daemon.js";
import { html, useEffect, useRef, useState } from "../html.js";
import { listen } from "../live.js";
import { nameOf, namespaceOf, projectOf } from "../projects.js";
import { go, href, refine, route } from "../route.js";
import { count, ms, plural } from "../format.js";
import { Confirm } from "../parts/dialog.js";
import { Facets } from "../parts/facets.js";
import { VirtualList } from "../parts/list.js";
import { byTime, MemoryLine, Segments } from "../parts/pieces.js";
import { SavedSearches } from "../parts/saved.js";
import {
  ActionBar,
  Choose,
  exportAll,
  forgetAll,
  moveAll,
  projectOptions,
  retypeAll,
  sharedTypes,
  useSelection,
} from "../parts/selection.js";
import { Empty, Failure, Loading, Section, useData } from "../parts/states.js";
import { Memory } from "./memory.js";

const ROW = 88;
const SLIM = 64; // where one line holds most titles
const WIDE = matchMedia("(min-width: 1241px)");
const PAGE = 60;
const FOUND = 100;
const AGAIN_MS = 3000;
const MODES = [
  ["hybrid", "Both"],
  ["keyword", "Words"],
  ["semantic", "Meaning"],
];
const FILTERS = [
  "project",
  "kind",
  "type",
  "concept",
  "file",
  "session_id",
  "branch",
  "freshness",
  "used",
];
const TIMES = ["days", "since", "until", "as_of"];

function filtersOf(params) {
  const filters = Object.fromEntries(FILTERS.map((name) => [name, params[name]]));
  if (params.days) filters.since = new Date(Date.now() - params.days * 864e5).toISOString();
  if (params.since) filters.since = moment(params.since, "00:00");
  if (params.until) filters.until = moment(params.until, "23:59:59.999");
  if (params.as_of) filters.as_of = new Date(params.as_of).toISOString();
  return filters;
}

// A day of this machine's calendar begins or ends at a time of day; anything else is a moment.
const moment = (text, time) =>
  new Date(text.length === 10 ? `${text}T${time}` : text).toISOString();

// What belongs into an open list without a question to the daemon: true, false, or null when only
// the daemon knows.
function fits(record, params) {
  if (["q", "branch", "file", "as_of", "until"].some((name) => params[name])) return null;
  return (
    (!params.project || record.namespace === namespaceOf(params.project)) &&
    (!params.kind || record.kind === params.kind) &&
    (!params.type || (record.knowledge_type ?? record.observation_type) === params.type) &&
    (!params.session_id || record.session_id === params.session_id) &&
    (!params.concept || record.concepts.includes(params.concept)) &&
    (!params.freshness || record.freshness === params.freshness) &&
    (!params.used || String(record.access_count > 0) === params.used)
  );
}

// The pages read so far of what the filters select; a search has one page.
function useFound(params) {
  const key = JSON.stringify(["q", "mode", ...TIMES, ...FILTERS].map((name) => params[name]));
  const [state, set] = useState({ items: [], next: null, done: false, error: null, key: "" });
  const busy = useRef(false);
  const asked = useRef(params);
  asked.current = params;
  const latest = useRef(key);
  latest.current = key;
  const turn = useRef(0); // of the last read that was begun
  const read = async (fresh) => {
    if (busy.current && !fresh) return;
    busy.current = true;
    const mine = ++turn.current;
    const now = asked.current;
    try {
      const filters = filtersOf(now);
      const answer = now.q
        ? await daemon.search({
            ...filters,
            query: now.q.slice(0, 1000),
            mode: now.mode ?? "hybrid",
            limit: FOUND,
          })
        : await daemon.memories({
            ...filters,
            limit: PAGE,
            before: fresh ? undefined : state.next,
          });
      const items = now.q
        ? answer.items.map((one) => ({ ...one.record, says_ended: one.says_ended }))
        : answer.items;
      if (latest.current === key && mine === turn.current)
        set((old) => ({
          items: fresh ? items : [...old.items, ...items],
          next: answer.next ?? null,
          done: !answer.next,
          error: null,
          key,
          answer,
        }));
    } catch (error) {
      set((old) => ({ ...old, error, done: true, key }));
    }
    if (mine === turn.current) busy.current = false;
  };
  useEffect(() => {
    const wait = setTimeout(() => read(true), params.q ? 160 : 0);
    return () => clearTimeout(wait);
  }, [key]);
  useEffect(() => {
    let timer = 0;
    const patched = (told) => {
      const without = (items) => items.filter((one) => one.record_id !== told.record_id);
      const change = (items) => set((old) => ({ ...old, items: items(old.items) }));
      const wanted = told?.record && fits(told.record, asked.current);
      if (told?.removed) change(without);
      else if (wanted && told.version === 1) change((items) => [told.record, ...without(items)]);
      else if (wanted)
        change((items) =>
          items.map((one) => (one.record_id === told.record_id ? told.record : one)),
        );
      return told?.removed || wanted || wanted === false;
    };
    const stop = listen((kind, told) => {
      if (!["memory", "summary", "reset"].includes(kind)) return;
      // An answer that is on its way may be from before this.
      if (patched(told) && !busy.current) return;
      timer ||= setTimeout(
        () => {
          timer = 0;
          read(true);
        },
        kind === "reset" ? 150 : AGAIN_MS,
      );
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [key]);
  // Until the answer is there, the list is still that of the filters before.
  const old = state.key !== key;
  return { ...state, old, more: () => read(false), again: () => read(true) };
}

// Of a search, the counts are those of what was found, without what only comes nearest.
function counted(items) {
  const by = (name) => {
    const counts = {};
    for (const one of items) {
      const value = name(one);
      if (value) counts[value] = (counts[value] ?? 0) + 1;
    }
    return counts;
  };
  return {
    kinds: by((one) => one.kind),
    types: by((one) => one.knowledge_type ?? one.observation_type),
    freshness: by((one) => one.freshness),
    used: by((one) => String(one.access_count > 0)),
    projects: by((one) => projectOf(one.namespace)),
    branches: {},
  };
}

// How many of the results are about the query, and how many only come nearest.
const found = (total, good) =>
  good >= total ? `${total === FOUND ? "the best " : ""}${count(total)} found`
  : good ? `${count(good)} found, then the nearest`
  : total ? "nothing fits; these are the nearest"
  : "0 found";

const isTyping = (event) =>
  /^(input|textarea|select)$/i.test(event.target.tagName) && event.target.type !== "checkbox";

// Keys of the list; a dialog has its own.
function useKeys(list, selection, id, params) {
  const [at, move] = useState(null);
  useEffect(() => move(null), [list.key]);
  useEffect(() => {
    const heard = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog"))
        return;
      if (event.key === "Escape") {
        if (isTyping(event)) event.target.blur();
        else if (selection.records.length) selection.clear();
        else if (id) go("memories", "", params);
        return;
      }
      if (isTyping(event)) return;
      const last = list.items.length - 1;
      if (event.key === "j") move(at == null ? 0 : Math.min(last, at + 1));
      else if (event.key === "k") move(at == null ? 0 : Math.max(0, at - 1));
      else if (event.key === "x" && at != null) selection.toggle(list.items[at]);
      else if (event.key === "Enter" && at != null && document.activeElement === document.body)
        go("memories", list.items[at].record_id, params);
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", heard);
    return () => removeEventListener("keydown", heard);
  });
  return at;
}

export function Memories() {
  const { id, params } = route.value;
  const list = useFound(params);
  const selection = useSelection();
  const at = useKeys(list, selection, id, params);
  const chosen = [...FILTERS, ...TIMES].filter((name) => params[name]);
  const filters = JSON.stringify([...FILTERS, ...TIMES].map((name) => params[name]));
  const counts = useData(() => daemon.counts(filtersOf(params)), filters, ["memory", "summary"]);
  const good = list.answer?.good || list.items.length;
  // Nothing counts what there was at an earlier time.
  const shown = params.q
    ? counted(list.items.slice(0, good))
    : params.as_of
      ? null
      : counts.data;
  const total = params.q ? list.items.length : shown?.total;
  return html`
    <div>
      <div class="head">
        <h1>Memories</h1>
        ${total == null ? null : html`
          <span class="soft" role="status">
            ${!params.q
              ? count(total)
              : list.old
                ? "searching…"
                : found(total, list.answer?.good ?? total)}
            ${!params.q && chosen.length ? " match" : ""}
          </span>
        `}
        <span class="push small faint keys">
          <kbd>j</kbd> <kbd>k</kbd> move · <kbd>x</kbd> select · <kbd>Enter</kbd> open ·${" "}
          <kbd>/</kbd> search
        </span>
      </div>
      <div class="filters" role="search">
        <input
          class="grow"
          type="search"
          aria-label="Search memories"
          placeholder="Search by words or meaning…"
          value=${params.q ?? ""}
          onInput=${(event) => refine({ q: event.target.value })}
        />
        <${Segments}
          label="Search by"
          options=${MODES}
          value=${params.mode ?? "hybrid"}
          choose=${(mode) => refine({ mode: mode === "hybrid" ? "" : mode })}
        />
      </div>
      <div class="filters">
        <${SavedSearches} params=${params} />
        ${["session_id", "since", "until"]
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
      <div class=${id ? "browse open" : "browse"}>
        <${Section}>
          <${Facets} params=${params} counts=${shown} chosen=${chosen.length} />
        <//>
        <${Section}>
          <section class="card" aria-label="Found memories">
            <header>
              <h2>
                ${params.q
                  ? list.old
                    ? "Searching…"
                    : "Best first"
                  : params.as_of
                    ? `As of ${params.as_of}`
                    : byTime(params)
                      ? "Happened then, newest stored first"
                      : "Newest first, by the time stored"}
              </h2>
              ${list.answer?.latency_ms != null ? html`
                <span class="push small faint">
                  ${list.answer.semantic ? "" : "by words only · "}
                  ${ms(list.answer.latency_ms * 1000)}
                </span>
              ` : null}
            </header>
            <${Bulk} selection=${selection} list=${list} />
            <${Listed} ...${{ list, params, id, at, selection }} />
          </section>
        <//>
        ${id ? html`
          <${Section} key=${id}><${Memory} id=${id} params=${params} /><//>
        ` : null}
      </div>
    </div>
  `;
}

function Bulk({ selection, list }) {
  const [dialog, open] = useState("");
  const { records } = selection;
  const types = sharedTypes(records);
  const close = () => open("");
  const after = () => {
    selection.clear();
    list.again();
  };
  return html`
    <${ActionBar}
      selection=${selection}
      many=${list.items.length}
      all=${() => selection.all(list.items)}>
      <button class="danger" onClick=${() => open("forget")}>Forget</button>
      <button onClick=${() => open("move")}>Move…</button>
      <button
        disabled=${types.length < 2}
        title=${types.length < 2 ? "Choose memories of one kind that has types" : null}
        onClick=${() => open("retype")}>
        Change type…
      </button>
      <button onClick=${() => exportAll(records)}>Export</button>
    <//>
    ${dialog === "forget" ? html`
      <${Confirm}
        title=${`Forget ${plural(records.length, "memory", "memories")}?`}
        text="They will no longer be found or injected. You can undo this for 30 days."
        close=${close}
        act=${() => forgetAll(records, after)}
      />
    ` : null}
    ${dialog === "move" ? html`
      <${Choose}
        title="Move to another project"
        label="Project"
        options=${projectOptions()}
        yes="Move"
        close=${close}
        act=${(project) => moveAll(records, project, after)}
      />
    ` : null}
    ${dialog === "retype" ? html`
      <${Choose}
        title="Change the type"
        label="Type"
        options=${types.map((one) => [one.name, one.label])}
        yes="Change"
        close=${close}
        act=${(type) => retypeAll(records, type, after)}
      />
    ` : null}
  `;
}

function Listed({ list, params, id, at, selection }) {
  if (list.error && !list.items.length)
    return html`<${Failure} error=${list.error} again=${list.again} />`;
  if (!list.key) return html`<${Loading} lines=${8} />`;
  if (!list.items.length && list.done)
    return Object.values(params).some(Boolean) ? html`
      <${Empty} title="No matches">
        <p>Try fewer filters or other words, or search by meaning.</p>
        <p><a href=${href("memories")}>Show all memories</a></p>
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
  const slim = WIDE.matches && !id;
  return html`
    <${VirtualList}
      label="Memories"
      items=${list.items}
      height=${slim ? SLIM : ROW}
      kind=${slim ? "slim" : ""}
      done=${list.done}
      more=${list.more}
      at=${at}
      row=${(record, place) => html`
        <div
          class=${[
            "pick",
            selection.has(record) ? "on" : "",
            place && place === list.answer?.good ? "rest" : "",
          ].join(" ")}>
          <label>
            <input
              type="checkbox"
              checked=${selection.has(record)}
              onChange=${() => selection.toggle(record)}
              aria-label=${`Select ${record.title}`}
            />
          </label>
          <${MemoryLine}
            record=${record}
            project=${nameOf(record.namespace)}
            current=${record.record_id === id}
            params=${params}
          />
        </div>
      `}
    />
  `;
}
