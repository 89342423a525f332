// Work in the background, plugins, and bringing memories in and out, with progress.
import * as daemon from "../daemon.js";
import { html, useEffect, useState } from "../html.js";
import { projects } from "../projects.js";
import { bytes, count, plural } from "../format.js";
import { Ago, Badge } from "./pieces.js";
import { Card, none, useData } from "./states.js";
import { attempt, toast, toastError } from "./toast.js";

const LOOK_MS = 2000;
const SHOWN = 8;
const TONE = { running: "info", done: "good", failed: "bad" };

// Reads again while something goes on.
function useWatched(load, busy) {
  const state = useData(load, "", ["run"]);
  const on = state.data && busy(state.data);
  useEffect(() => {
    if (!on) return;
    const timer = setInterval(state.again, LOOK_MS);
    return () => clearInterval(timer);
  }, [on]);
  return state;
}

const Progress = ({ done, total }) =>
  total ? html`
    <span class="bar" role="progressbar" aria-valuenow=${done} aria-valuemax=${total}>
      <i style=${{ width: `${(100 * done) / total}%` }}></i>
    </span>
  ` : null;

export function Jobs() {
  const state = useWatched(daemon.jobs, (data) =>
    data.items.some((one) => one.state === "running"),
  );
  const act = (job, what) =>
    attempt(async () => {
      await daemon.changeJob(job.job_id, what);
      state.again();
    });
  return html`
    <${Card}
      title="Background work"
      state=${state}
      empty=${none("Nothing is running or waiting.")}>
      ${(data) => html`
        <ul class="rows">
          ${data.items.slice(0, SHOWN).map((one) => html`
            <li key=${one.job_id}>
              <${Badge} tone=${TONE[one.state] ?? ""}>${one.state}<//>
              <div class="grow">
                ${one.kind}: ${one.what}
                ${one.total ? html`
                  <span class="small faint">
                    ${" "}${one.done ? `${count(one.done)} of ` : ""}${count(one.total)}
                  </span>
                ` : null}
                ${one.state === "running" ? html`<${Progress} ...${one} />` : null}
                ${one.problem ? html`<div class="small wrap">${one.problem}</div>` : null}
                ${one.ended_at ? html`<div><${Ago} at=${one.ended_at} /></div>` : null}
              </div>
              ${one.can.map((what) => html`
                <button key=${what} onClick=${() => act(one, what)}>
                  ${what === "cancel" ? "Cancel" : "Try again"}
                </button>
              `)}
            </li>
          `)}
        </ul>
      `}
    <//>
  `;
}

export function Plugins() {
  const state = useData(daemon.plugins, "", ["reset"]);
  const change = async (one) => {
    const on = one.state === "disabled" || one.state === "off";
    try {
      await daemon.switchPlugin(one.name, on);
      toast(`${one.name} is ${on ? "on" : "off"} until the next start.`);
      state.again();
    } catch (error) {
      toastError(error);
    }
  };
  return html`
    <${Card}
      title="Plugins and webhooks"
      state=${state}
      empty=${none("No plugin is installed.")}>
      ${(data) => html`
        <ul class="rows">
          ${data.items.map((one) => html`
            <li key=${one.name}>
              <${Badge} tone=${{ running: "good", off: "bad", missing: "bad" }[one.state] ?? ""}>
                ${one.state}
              <//>
              <div class="grow">
                ${one.name} <span class="small faint">${one.package} ${one.version}</span>
                <div class="small faint">
                  ${plural(one.calls, "call")}${one.dropped ? `, ${one.dropped} dropped` : ""}
                </div>
                ${one.problem ? html`<div class="small wrap">${one.problem}</div>` : null}
              </div>
              ${one.state === "missing" ? null : html`
                <button onClick=${() => change(one)}>
                  ${one.state === "disabled" || one.state === "off" ? "Switch on" : "Switch off"}
                </button>
              `}
            </li>
          `)}
        </ul>
        <p class="small soft">
          A switch here lasts until the next start. To keep it:${" "}
          <code>recollect plugins enable NAME</code> or <code>disable NAME</code>.
        </p>
      `}
    <//>
  `;
}

// The browser saves the stream as it comes; the progress is counted in bytes.
export function Export() {
  const [project, choose] = useState("");
  const [format, as] = useState("jsonl");
  const [done, count_] = useState(null);
  const [stop, stopping] = useState(null);
  const run = async () => {
    const control = new AbortController();
    stopping(control);
    count_(0);
    try {
      const query = new URLSearchParams({ format, ...(project ? { project } : {}) });
      const answer = await fetch(`/api/export?${query}`, { signal: control.signal });
      if (!answer.ok) throw new Error("The export failed.");
      const parts = [];
      let size = 0;
      for await (const chunk of answer.body) {
        parts.push(chunk);
        size += chunk.length;
        count_(size);
      }
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob(parts));
      link.download = `recollect.${format === "markdown" ? "md" : format}`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
      toast(`Exported ${bytes(size)}.`);
    } catch (error) {
      if (error.name !== "AbortError") toastError(error);
    }
    count_(null);
    stopping(null);
  };
  return html`
    <section class="card" aria-label="Export">
      <header><h2>Export</h2></header>
      <div class="body grid">
        <div class="row-line">
          <label class="field">
            What
            <select value=${project} onChange=${(event) => choose(event.target.value)}>
              <option value="">Everything</option>
              ${projects.value.map((one) => html`
                <option key=${one.project_id} value=${one.project_id || "global"}>
                  ${one.project_id ? one.name : "Everywhere"}
                </option>
              `)}
            </select>
          </label>
          <label class="field">
            Format
            <select value=${format} onChange=${(event) => as(event.target.value)}>
              <option value="jsonl">JSON lines</option>
              <option value="json">JSON</option>
              <option value="markdown">Markdown</option>
            </select>
          </label>
        </div>
        <div class="row-line" role="status">
          ${done == null ? html`<button onClick=${run}>Export</button>` : html`
            <span>${bytes(done)} so far…</span>
            <button onClick=${() => stop.abort()}>Cancel</button>
          `}
        </div>
      </div>
    </section>
  `;
}

export function Import() {
  const state = useWatched(daemon.imports, (data) => data.state === "running");
  const [offers, offer] = useState(null);
  const [looking, look] = useState(false);
  const find = async () => {
    look(true);
    try {
      offer((await daemon.offers()).offers);
    } catch (error) {
      toastError(error);
    }
    look(false);
  };
  const begin = (sources) =>
    attempt(async () => {
      await daemon.startImport(sources);
      offer(null);
      state.again();
    });
  return html`
    <${Card} title="Import" state=${state}>
      ${(data) => html`
        <div class="grid">
          ${data.state === "running" ? html`
            <div role="status">
              ${count(data.done)} of ${plural(data.total, "item")}
              ${data.remaining_s ? `, about ${Math.ceil(data.remaining_s)} s left` : ""}
              <${Progress} ...${data} />
            </div>
          ` : html`
            <p class="soft">
              ${data.state === "done"
                ? `The last import read ${plural(data.done, "item")}.`
                : "Bring in the history that agents and other memories keep on this machine."}
            </p>
          `}
          ${data.problem ? html`<p class="small wrap">${data.problem}</p>` : null}
          ${offers ? html`<${Offers} offers=${offers} begin=${begin} />` : null}
          <div>
            <button disabled=${looking || data.state === "running"} onClick=${find}>
              ${looking ? "Looking…" : "Look for history"}
            </button>
          </div>
        </div>
      `}
    <//>
  `;
}

function Offers({ offers, begin }) {
  const sources = [...new Set(offers.map((one) => one.source))];
  if (!offers.length) return html`<p class="soft">Nothing was found.</p>`;
  return html`
    <ul class="rows">
      ${offers.map((one) => html`
        <li key=${one.source + one.path}>
          <div class="grow">
            ${one.source} <span class="small faint">${plural(one.sessions, "session")}</span>
            <div class="small faint clip">${one.path}</div>
          </div>
          <button onClick=${() => begin([one.source])}>Import</button>
        </li>
      `)}
      ${sources.length > 1 ? html`
        <li><button class="primary" onClick=${() => begin(sources)}>Import all</button></li>
      ` : null}
    </ul>
  `;
}
