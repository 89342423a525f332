// Projects, and one of them on a page: what holds there, open ends, branches, the files that
// matter and a map of them, commands that work, sessions.
import * as daemon from "../daemon.js";
import { html, useState } from "../html.js";
import { agentOf } from "../kinds.js";
import { projects } from "../projects.js";
import { go, href, refine, route } from "../route.js";
import { ago, count, plural, short, when } from "../format.js";
import { Belief } from "../parts/belief.js";
import { EraseButton } from "../parts/erase.js";
import { FileMap, wordsFor } from "../parts/filemap.js";
import { Ago, MemoryLine } from "../parts/pieces.js";
import { Card, Empty, none, Section, Shown, useData } from "../parts/states.js";

const MAPPED = 2000;
const RULES = 6;
const SESSIONS = 8;

export function Projects() {
  const { id } = route.value;
  return id ? html`<${Page} key=${id} id=${id} />` : html`<${List} />`;
}

// Its directory, or else what it is recognised by.
const placeOf = ({ marks }) => (marks.find((one) => one.kind === "root") ?? marks[0])?.value;

function List() {
  return html`
    <div>
      <div class="head">
        <h1>Projects</h1>
        <p class="lead">What is known of each project that agents worked in.</p>
      </div>
      ${projects.value.length ? html`
        <div class="tiles">
          ${projects.value.map((one) => html`
            <a
              class="card tile"
              key=${one.project_id}
              href=${href("projects", one.project_id || "global")}>
              <b class="wrap">${one.project_id ? one.name : "Everywhere"}</b>
              <span class="small faint clip">
                ${placeOf(one) ?? "What belongs to no project"}
              </span>
              <span class="small soft">
                ${plural(one.records, "memory", "memories")}, ${plural(one.sessions, "session")}
              </span>
            </a>
          `)}
        </div>
      ` : html`
        <section class="card">
          <${Empty} title="No projects yet">
            <p>A project appears when an agent works in it: <code>recollect install</code></p>
          <//>
        </section>
      `}
    </div>
  `;
}

function Page({ id }) {
  const state = useData(() => daemon.project(id), id, ["session", "run"]);
  const line = state.data?.project;
  const erased = async (day) => {
    projects.value = (await daemon.projects()).items;
    if (day) state.again();
    else go("projects");
  };
  return html`
    <div>
      <div class="head">
        <h1 class="wrap">
          ${line ? (line.project_id ? line.name : "Everywhere") : "Project"}
        </h1>
        <span class="push row-line">
          ${line ? html`
            <${EraseButton}
              label="Erase…"
              title=${`Erase all of ${line.project_id ? line.name : "what is in no project"}?`}
              chosen=${{ everything: true, project: line.project_id || "global" }}
              aged
              done=${erased}
            />
          ` : null}
          <a class="button" href=${href("projects")}>All projects</a>
        </span>
        ${line ? html`
          <p class="lead">
            <a href=${href("memories", "", { project: id })}>
              ${plural(line.records, "memory", "memories")}
            </a>${", "}
            <a href=${href("sessions", "", { project: id })}>
              ${plural(line.sessions, "session")}
            </a>
            ${state.data.last_worked ? `, last work ${ago(state.data.last_worked)}` : ""}
            ${placeOf(line) ? html` · <span class="mono">${placeOf(line)}</span>` : null}
          </p>
        ` : null}
      </div>
      <div class="grid half">
        <div class="grid">
          <${Section}><${Rules} id=${id} /><//>
          <${Section}><${OpenEnds} state=${state} /><//>
        </div>
        <div class="grid">
          <${Section}><${Commands} state=${state} /><//>
          <${Section}><${Branches} id=${id} state=${state} /><//>
        </div>
      </div>
      <div class="gap"></div>
      <${Section}><${Files} id=${id} /><//>
      <div class="gap"></div>
      <${Section}><${Recent} id=${id} /><//>
    </div>
  `;
}

function Rules({ id }) {
  const state = useData(() => daemon.beliefs({ project: id, show: "standing" }), id, ["memory"]);
  return html`
    <section class="card beliefs" aria-label="What holds here">
      <header>
        <h2>What holds here</h2>
        <a class="push small" href=${href("beliefs", "", { project: id })}>
          ${state.data ? `All ${count(state.data.items.length)}` : "All"}
        </a>
      </header>
      <${Shown}
        state=${state}
        empty=${{
          when: (data) => !data.items.length,
          show: html`
            <${Empty} title="No rule or decision yet">
              <p>Tell an agent “always use pnpm here”, and it is listed here.</p>
            <//>
          `,
        }}>
        ${(data) => html`
          <ul class="items">
            ${data.items.slice(0, RULES).map((one) => html`
              <${Belief}
                key=${one.record_id}
                label="li"
                record=${one}
                standing
                again=${state.again}
              />
            `)}
          </ul>
        `}
      <//>
    </section>
  `;
}

const OpenEnds = ({ state }) => html`
  <${Card}
    title="Open ends"
    state=${state}
    empty=${none("No session left anything open.", (data) => data.open_ends)}>
    ${(data) => data.open_ends.map((one) => html`
      <div class="turn" key=${one.session_id}>
        <a class="title wrap" href=${href("sessions", one.session_id)}>${short(one.task, 160)}</a>
        ${" "}<${Ago} at=${one.at} />
        <ul>
          ${[...one.next_steps, ...one.questions].map((step) => html`
            <li class="wrap" key=${step}>${step}</li>
          `)}
        </ul>
      </div>
    `)}
  <//>
`;

const Commands = ({ state }) => html`
  <${Card}
    title="Commands"
    state=${state}
    empty=${none("No command was run here.", (data) => data.commands)}>
    ${(data) => html`
      <ul class="rows">
        ${data.commands.map((one) => html`
          <li key=${one.command}>
            <i class=${`dot ${one.failed ? "bad" : "good"}`}></i>
            <div>
              <code class="wrap">${short(one.command, 160)}</code>
              <div class="small faint">
                ${one.failed ? "failed" : "worked"} ${ago(one.last)}, run in${" "}
                ${plural(one.sessions, "session")}
                ${one.failed && one.error ? html`: ${short(one.error, 160)}` : null}
              </div>
            </div>
          </li>
        `)}
      </ul>
    `}
  <//>
`;

const Branches = ({ id, state }) => html`
  <${Card}
    title="Branches"
    state=${state}
    empty=${none("Nothing was done on a branch.", (data) => data.branches)}>
    ${(data) => html`
      <ul class="rows">
        ${data.branches.map((one) => html`
          <li key=${one.name}>
            <div>
              <a class="mono wrap" href=${href("memories", "", { project: id, branch: one.name })}>
                ${one.name}
              </a>
              <div class="small faint">
                ${plural(one.sessions, "session")}, ${plural(one.files, "file")}, last${" "}
                ${ago(one.last)}
              </div>
              ${one.commits.map((subject) => html`
                <div class="small wrap" key=${subject}>${short(subject, 120)}</div>
              `)}
            </div>
          </li>
        `)}
      </ul>
    `}
  <//>
`;

function Recent({ id }) {
  const state = useData(() => daemon.sessions({ project: id, limit: SESSIONS }), id, ["session"]);
  return html`
    <${Card}
      title="Sessions"
      state=${state}
      empty=${none("No session yet.")}>
      ${(data) => html`
        <ul class="rows">
          ${data.items.map((one) => html`
            <li key=${one.session_id}>
              <div>
                <a class="wrap" href=${href("sessions", one.session_id, { project: id })}>
                  ${short(one.title, 120) || agentOf(one.surface)}
                </a>
                <div class="small faint">${agentOf(one.surface)}, ${when(one.started_at)}</div>
              </div>
            </li>
          `)}
        </ul>
      `}
    <//>
  `;
}

function Files({ id }) {
  const { params } = route.value;
  const state = useData(() => daemon.files(id, MAPPED), id);
  return html`
    <section class="card" aria-label="Files">
      <header>
        <h2>Files that matter</h2>
        <span class="faint small">${state.data ? count(state.data.total) : ""}</span>
      </header>
      <div class="body">
        <${Shown}
          state=${state}
          empty=${none("No file was touched here.")}>
          ${(data) => html`
            <div class="grid files">
              <${FileMap}
                files=${data.items}
                chosen=${params.file}
                choose=${(file) => refine({ file })}
              />
              ${params.file
                ? html`<${File} key=${params.file} id=${id} path=${params.file} data=${data} />`
                : html`<${FileList} items=${data.items} />`}
            </div>
          `}
        <//>
      </div>
    </section>
  `;
}

function FileList({ items }) {
  const [all, show] = useState(false);
  const shown = all ? items : items.slice(0, 6);
  return html`
    <ul class="rows" aria-label="Files by how often they were touched">
      ${shown.map((one) => html`
        <li key=${one.path}>
          <div>
            <button class="link mono wrap" onClick=${() => refine({ file: one.path })}>
              ${one.path}
            </button>
            <div class="small faint">${wordsFor(one)}</div>
          </div>
        </li>
      `)}
      ${shown.length < items.length ? html`
        <li><button onClick=${() => show(true)}>Show all ${count(items.length)}</button></li>
      ` : null}
    </ul>
  `;
}

// What is known about one file.
function File({ id, path, data }) {
  const one = data.items.find((file) => file.path === path);
  const state = useData(() => daemon.memories({ project: id, file: path, limit: 8 }), path);
  const named = useData(() => daemon.entities({ project: id, query: path, limit: 5 }), path);
  const entity = named.data?.items.find((found) => found.name === path);
  return html`
    <div aria-label="One file" role="region">
      <div class="row-line">
        <h3 class="mono wrap">${path}</h3>
        <button class="push" onClick=${() => refine({ file: "" })}>Close</button>
      </div>
      ${one ? html`<p class="small soft">${wordsFor(one)}</p>` : null}
      <${Shown}
        state=${state}
        empty=${none("No memory names this file.")}>
        ${(found) => html`
          <ul class="items">
            ${found.items.map((record) => html`
              <li key=${record.record_id}><${MemoryLine} record=${record} /></li>
            `)}
          </ul>
        `}
      <//>
      <p class="row-line small">
        <a href=${href("memories", "", { project: id, file: path })}>All memories of it</a>
        ${entity ? html`
          <a href=${href("entity", entity.entity_id)}>What it is related to</a>
        ` : null}
      </p>
    </div>
  `;
}
