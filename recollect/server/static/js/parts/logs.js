// Two logs: the events that agents reported, and the changes that were made to memories.
import * as daemon from "../daemon.js";
import { html } from "../html.js";
import { agentOf } from "../kinds.js";
import { nameOf } from "../projects.js";
import { href } from "../route.js";
import { EVENTS, short } from "../format.js";
import { Ago, Badge } from "./pieces.js";
import { Empty, Shown, usePages } from "./states.js";
import { undo } from "./undo.js";

const PAGE = matchMedia("(max-width: 720px)").matches ? 15 : 50; // a row is tall on a phone

const Earlier = ({ more }) =>
  more ? html`
    <div class="state small"><button onClick=${more}>Show earlier</button></div>
  ` : null;

// The raw events, as hooks sent them.
export function Events({ project = "all" }) {
  const state = usePages((before) => daemon.events({ project, limit: PAGE, before }), project, [
    "event",
    "prompt",
  ]);
  return html`
    <section class="card" aria-label="Events">
      <header><h2>In the order they arrived, newest first</h2></header>
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
          <div class="table log">
            <table>
              <thead>
                <tr>
                  <th>Happened</th>
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
                    <td><${Badge}>${EVENTS[event.kind] ?? event.kind.replaceAll("_", " ")}<//></td>
                    <td>${agentOf(event.source.surface)}</td>
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
            <${Earlier} more=${state.more} />
          </div>
        `}
      <//>
    </section>
  `;
}
function preview({ content, turns, data }) {
  const said = content ?? turns?.at(-1)?.content;
  if (said != null) return said;
  const { tool = "", command = "", files = [], signal, source, reason } = data ?? {};
  const by = source ?? reason;
  if (signal) return signal.replaceAll("-", " ") + (by ? ` (${by})` : "");
  const what = command || files.join(", ");
  return what ? `${tool} ${what}` : JSON.stringify(data);
}

const WORDS = {
  add: "added",
  edit: "edited",
  move: "moved",
  merge: "merged",
  delete: "deleted",
  feedback: "rated",
  tombstone: "rejected for good",
  undo: "undone",
  supersede: "belief changed",
  forget: "erased",
};
const REASONS = {
  dropped: "forgotten",
  "holds: everywhere": "now holds everywhere",
  "holds: project": "now holds in its project",
  "holds: branch": "now holds on one branch",
  "holds: session": "now holds in one session",
};
const BACK = new Set(["add", "edit", "move", "merge", "delete", "undo", "supersede"]);

const touched = (one) =>
  [...new Set([...one.targets, ...one.created])].filter((name) => name.startsWith("mr_"));

export function Changes({ project }) {
  const state = usePages(
    (before) => daemon.operations({ project, limit: PAGE, before }),
    project ?? "",
    ["memory", "summary"],
  );
  return html`
    <section class="card" aria-label="Changes">
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
        ${() => html`
          <div class="table log">
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
                ${state.items.map((one) => html`
                  <tr key=${one.op_id}>
                    <td><${Ago} at=${one.at} /></td>
                    <td>
                      <${Badge}>${WORDS[one.kind] ?? one.kind}<//>${" "}
                      <span class="small soft">${REASONS[one.reason] ?? one.reason}</span>
                    </td>
                    <td>${one.actor}</td>
                    <td>${nameOf(one.namespace)}</td>
                    <td>
                      ${one.titles.map((title, i) => html`
                        <a
                          class="line wrap"
                          key=${i}
                          href=${href("memories", touched(one)[i])}>
                          ${short(title, 100)}
                        </a>
                      `)}
                      ${touched(one).length > one.titles.length ? html`
                        <span class="small faint">
                          and ${touched(one).length - one.titles.length} more
                        </span>
                      ` : null}
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
            <${Earlier} more=${state.more} />
          </div>
        `}
      <//>
    </section>
  `;
}
