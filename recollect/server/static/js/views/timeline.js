// Timeline: memories day by day, raw events, and the changes made to memories.
import * as daemon from "../daemon.js";
import { html, useEffect, useRef, useState } from "../html.js";
import { nameOf, ProjectFilter } from "../projects.js";
import { href, refine, route } from "../route.js";
import { dayOf, hour, plural, short } from "../format.js";
import { Ago, Badge, Kind, Segments } from "../parts/pieces.js";
import { Empty, Failure, Loading, Section, Shown, useData, usePages } from "../parts/states.js";
import { undo } from "../parts/undo.js";

export function Timeline() {
  const { params } = route.value;
  return html`
    <div>
      <div class="head">
        <h1>Timeline</h1>
        <p class="lead">Memories day by day, the events behind them, and every change.</p>
      </div>
      <div class="filters">
        <${ProjectFilter} />
        <${Segments}
          label="Show"
          options=${[
            ["", "Memories"],
            ["events", "Events"],
            ["changes", "Changes"],
          ]}
          value=${params.log ?? ""}
          choose=${(name) => refine({ log: name })}
        />
        <label class="row-line small soft">
          Before${" "}
          <input
            type="date"
            value=${params.until ?? ""}
            onChange=${(event) => refine({ until: event.target.value })}
          />
        </label>
      </div>
      <${Section}>
        ${params.log === "changes"
          ? html`<${Changes} params=${params} />`
          : params.log === "events"
            ? html`<${Events} params=${params} />`
            : html`<${Days} key=${JSON.stringify(params)} params=${params} />`}
      <//>
    </div>
  `;
}

function Days({ params }) {
  const [state, set] = useState({ items: [], next: undefined, error: null });
  const busy = useRef(false);
  const end = useRef(null);
  const more = async () => {
    if (busy.current || state.next === null) return;
    busy.current = true;
    try {
      const until = params.until ? new Date(params.until).toISOString() : undefined;
      const page = await daemon.memories({
        project: params.project,
        until,
        before: state.next,
        limit: 60,
      });
      set((old) => ({ items: [...old.items, ...page.items], next: page.next, error: null }));
    } catch (error) {
      set((old) => ({ ...old, error, next: null }));
    }
    busy.current = false;
  };
  useEffect(() => {
    more();
  }, []);
  useEffect(() => {
    const watcher = new IntersectionObserver(
      (seen) => seen[0].isIntersecting && state.next && more(),
    );
    if (end.current) watcher.observe(end.current);
    return () => watcher.disconnect();
  }, [state.next]);
  if (state.error && !state.items.length)
    return html`<${Failure} error=${state.error} again=${more} />`;
  if (state.next === undefined) return html`<${Loading} lines=${8} />`;
  if (!state.items.length)
    return html`
      <div class="card">
        <${Empty} title="Nothing in this period">
          <p>Choose another project or a later day.</p>
        <//>
      </div>
    `;
  const days = new Map();
  for (const record of [...state.items].sort((a, b) =>
    a.valid_from < b.valid_from ? 1 : -1,
  )) {
    const day = dayOf(record.valid_from);
    days.set(day, [...(days.get(day) ?? []), record]);
  }
  return html`
    <div>
      ${[...days].map(([day, records]) => html`
        <section key=${day} aria-label=${day}>
          <h2 class="day">
            ${day}${" "}
            <span class="faint small">${plural(records.length, "memory", "memories")}</span>
          </h2>
          <ul class="tl">
            ${records.map((record) => html`
              <li key=${record.record_id}>
                <div class="row-line">
                  <span class="faint small num">${hour(record.valid_from)}</span>
                  <${Kind} record=${record} />
                  <a href=${href("memories", record.record_id)}>${record.title}</a>
                  <span class="faint small">${nameOf(record.namespace)}</span>
                </div>
                ${record.summary && record.summary !== record.title ? html`
                  <div class="small soft two-lines">${record.summary}</div>
                ` : null}
              </li>
            `)}
          </ul>
        </section>
      `)}
      <div ref=${end} class="state small">
        ${state.next ? html`<button onClick=${more}>Show earlier</button>` : (
          "This is the beginning."
        )}
      </div>
    </div>
  `;
}

// The raw events, as hooks sent them.
function Events({ params }) {
  const project = params.project ?? "all";
  const state = usePages((before) => daemon.events({ project, limit: 50, before }), project, [
    "event",
    "prompt",
  ]);
  return html`
    <section class="card" aria-label="Events">
      <header><h2>Events</h2></header>
      <${Shown}
        state=${state}
        empty=${{
          when: (data) => !data.items.length,
          show: html`
            <${Empty} title="No events yet">
              <p>Connect an agent: <code>recollect install</code></p>
            <//>
          `,
        }}>
        ${() => html`
          <div class="table">
            <table>
              <thead>
                <tr>
                  <th>When</th>
                  <th>Kind</th>
                  <th>Agent</th>
                  <th>Session</th>
                  <th>What</th>
                </tr>
              </thead>
              <tbody>
                ${state.items.map(({ event }) => html`
                  <tr key=${event.event_id}>
                    <td><${Ago} at=${event.valid_time} /></td>
                    <td><${Badge}>${event.kind.replaceAll("_", " ")}<//></td>
                    <td>${event.source.surface}</td>
                    <td>
                      <a class="mono small" href=${href("sessions", event.session_id)}>
                        ${short(event.session_id, 16)}
                      </a>
                    </td>
                    <td class="wrap">${short(preview(event.body), 160)}</td>
                  </tr>
                `)}
              </tbody>
            </table>
            ${state.more ? html`
              <div class="state small">
                <button onClick=${state.more}>Show earlier</button>
              </div>
            ` : null}
          </div>
        `}
      <//>
    </section>
  `;
}
const preview = (body) =>
  body.content ?? body.turns?.at(-1)?.content ?? JSON.stringify(body.data);

const WORDS = {
  add: "added",
  edit: "edited",
  move: "moved",
  merge: "merged",
  delete: "deleted",
  feedback: "rated",
  tombstone: "rejected for good",
  undo: "undone",
  supersede: "superseded",
  forget: "erased",
};
const BACK = new Set(["add", "edit", "move", "merge", "delete", "undo", "supersede"]);

function Changes({ params }) {
  const state = useData(
    () => daemon.operations({ project: params.project, limit: 100 }),
    params.project ?? "",
    ["memory", "removed"],
  );
  return html`
    <section class="card">
      <header><h2>Changes</h2></header>
      <${Shown}
        state=${state}
        empty=${{
          when: (data) => !data.items.length,
          show: html`
            <${Empty} title="Nothing was changed yet">
              <p>Edits, merges, deletions and ratings are listed here; most can be undone.</p>
            <//>
          `,
        }}>
        ${(data) => html`
          <div class="table">
            <table>
              <thead>
                <tr>
                  <th>When</th>
                  <th>What</th>
                  <th>By</th>
                  <th>Project</th>
                  <th>Memories</th>
                  <th><span class="hidden-visually">Act</span></th>
                </tr>
              </thead>
              <tbody>
                ${data.items.map((one) => html`
                  <tr key=${one.op_id}>
                    <td><${Ago} at=${one.at} /></td>
                    <td>
                      <${Badge}>${WORDS[one.kind] ?? one.kind}<//>${" "}
                      <span class="small soft">${one.reason}</span>
                    </td>
                    <td>${one.actor}</td>
                    <td>${nameOf(one.namespace)}</td>
                    <td>
                      ${[...new Set([...one.targets, ...one.created])]
                        .slice(0, 3)
                        .map((target) =>
                          target.startsWith("mr_") ? html`
                            <a
                              class="mono small"
                              key=${target}
                              href=${href("memories", target)}>
                              ${target.slice(0, 3)}…${target.slice(-6)}
                            </a>${" "}
                          ` : html`
                            <span class="mono small">${target.slice(-8)}</span>${" "}
                          `,
                        )}
                    </td>
                    <td>
                      ${BACK.has(one.kind) ? html`
                        <button
                          onClick=${() => undo(one.op_id, state.again)}
                          aria-label=${`Undo: ${WORDS[one.kind] ?? one.kind}`}>
                          Undo
                        </button>
                      ` : null}
                    </td>
                  </tr>
                `)}
              </tbody>
            </table>
          </div>
        `}
      <//>
    </section>
  `;
}
