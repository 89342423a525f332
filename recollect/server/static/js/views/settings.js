// Settings and health: agents, extraction, storage, and all settings.
import * as daemon from "../daemon.js";
import { html, useState } from "../html.js";
import { bytes, count, plural, when } from "../format.js";
import { projects } from "../projects.js";
import { href } from "../route.js";
import { FormDialog } from "../parts/dialog.js";
import { Ago, Badge } from "../parts/pieces.js";
import { Export, Import, Jobs, Plugins } from "../parts/background.js";
import { Card, Empty, Section, Shown, useData } from "../parts/states.js";
import { attempt, toast, toastError } from "../parts/toast.js";

const NARROW = matchMedia("(max-width: 720px)"); // there the list of settings is very long

export const Settings = () => html`
  <div>
    <div class="head">
      <h1>Settings and health</h1>
      <p class="lead">The state of Recollect, and all settings.</p>
    </div>
    <div class="grid half even">
      <${Section}><${Health} /><//>
      <${Section}><${Hosts} /><//>
      <${Section}><${Queue} /><//>
      <${Section}><${Storage} /><//>
      <${Section}><${Jobs} /><//>
      <${Section}><${Plugins} /><//>
      <${Section}><${Export} /><//>
      <${Section}><${Import} /><//>
    </div>
    <div style=${{ height: "16px" }}></div>
    <${Section}><${All} /><//>
  </div>
`;

function Health() {
  const state = useData(daemon.health, "", ["reset"]);
  return html`
    <${Card} title="Health" state=${state}>
      ${(data) => html`
        <dl class="facts">
          <dt>State</dt>
          <dd>
            <${Badge} tone=${data.status === "ok" ? "good" : "bad"}>${data.status}<//>
          </dd>
          <dt>Version</dt>
          <dd>${data.version}, process ${data.pid}</dd>
          <dt>Running since</dt>
          <dd>${when(data.started_at)}</dd>
          <dt>Model</dt>
          <dd>
            ${data.embedding.model ?? "none"}${" "}
            <${Badge} tone=${data.embedding.problem ? "warn" : "good"}>
              ${data.embedding.state}
            <//>
            ${data.embedding.problem ? html`
              <br />
              <span class="small">${data.embedding.problem}</span>
            ` : null}
          </dd>
          <dt>Found by meaning</dt>
          <dd>
            ${count(data.embedding.embedded)} of${" "}
            ${plural(data.embedding.memories ?? 0, "memory", "memories")}
          </dd>
          <dt>Waiting to be stored</dt>
          <dd>
            ${plural(data.spool.events, "event")}
            ${data.spool.damaged ? `, ${data.spool.damaged} damaged` : ""}
          </dd>
          <dt>Errors, last hour</dt>
          <dd>
            ${data.errors_last_hour.count}
            ${data.errors_last_hour.latest.map((line) => html`
              <div class="small faint wrap">${line}</div>
            `)}
          </dd>
        </dl>
      `}
    <//>
  `;
}

function Hosts() {
  const state = useData(daemon.hosts, "", ["reset"]);
  const [proofs, set] = useState({});
  const prove = async (name) => {
    set((old) => ({ ...old, [name]: { busy: true } }));
    try {
      const answer = await daemon.prove(name);
      set((old) => ({ ...old, [name]: answer }));
    } catch (error) {
      set((old) => ({ ...old, [name]: { ok: false, message: error.message } }));
    }
  };
  return html`
    <${Card} title="Agents" state=${state}>
      ${(data) => {
        const { items } = data;
        return items.length ? html`
          <div class="table">
            <table>
              <thead>
                <tr>
                  <th>Agent</th>
                  <th>Last event</th>
                  <th>Connection</th>
                </tr>
              </thead>
              <tbody>
                ${items.map((one) => html`
                  <tr key=${one.name}>
                    <td>
                      ${one.title}${" "}
                      <${Badge} tone=${one.connected ? "good" : ""}>
                        ${one.connected ? "connected" : "not connected"}
                      <//>
                    </td>
                    <td>${one.last_heard ? html`<${Ago} at=${one.last_heard} />` : "never"}</td>
                    <td>
                      ${one.connected ? html`
                        <button
                          disabled=${proofs[one.name]?.busy}
                          onClick=${() => prove(one.name)}>
                          ${proofs[one.name]?.busy ? "Testing…" : "Test"}
                        </button>
                      ` : html`<code class="small">recollect install ${one.name}</code>`}
                      ${proofs[one.name]?.message ? html`
                        <div class=${`small ${proofs[one.name].ok ? "" : "soft"}`}>
                          ${proofs[one.name].message}
                        </div>
                      ` : null}
                    </td>
                  </tr>
                `)}
              </tbody>
            </table>
          </div>
        ` : html`
          <${Empty} title="No agent is connected"><p><code>recollect install</code></p><//>
        `;
      }}
    <//>
  `;
}

const OUTCOME = { committed: "finished" };

function Queue() {
  const state = useData(daemon.queue, "", ["run", "reset"]);
  const run = () =>
    attempt(async () => {
      const done = await daemon.runNow();
      toast(
        done.waiting
          ? `Extraction is running: ${plural(done.waiting, "event")} left.`
          : "Extraction is complete.",
      );
      state.again();
    });
  return html`
    <${Card} title="Extraction" state=${state}>
      ${({ items, extraction }) => {
        const waiting = items.reduce((sum, one) => sum + one.events, 0);
        const held = items.reduce((sum, one) => sum + one.quarantined, 0);
        const runs = items
          .map((one) => one.last_run)
          .filter(Boolean)
          .sort((a, b) => (a.started_at < b.started_at ? 1 : -1));
        return html`
          <div class="grid">
            <dl class="facts">
              <dt>Method</dt>
              <dd>
                ${!extraction.provider || extraction.provider === "none"
                  ? "rules; nothing leaves this machine"
                  : extraction.provider}
              </dd>
              ${extraction.budget && extraction.provider !== "none" ? html`
                <dt>Budget today</dt>
                <dd>
                  ${count(extraction.budget.tokens)} of${" "}
                  ${plural(extraction.budget.daily_tokens, "token")}, about${" "}
                  $${extraction.budget.usd.toFixed(2)} of $${extraction.budget.daily_usd}
                </dd>
              ` : null}
              <dt>Waiting</dt>
              <dd>${plural(waiting, "event")}</dd>
              <dt>Set aside</dt>
              <dd>
                ${plural(held, "event")}
                ${held ? html`
                  ${" "}
                  <code>recollect queue retry</code>
                ` : null}
              </dd>
              ${runs[0] ? html`
                <dt>Last run</dt>
                <dd>
                  <${Ago} at=${runs[0].started_at} />:${" "}
                  ${OUTCOME[runs[0].outcome] ?? runs[0].outcome.replaceAll("_", " ")},${" "}
                  ${plural(runs[0].kept, "memory", "memories")} kept
                </dd>
              ` : null}
            </dl>
            <div><button onClick=${run}>Run now</button></div>
          </div>
        `;
      }}
    <//>
  `;
}

function Storage() {
  const state = useData(daemon.doctor, "");
  const copies = useData(daemon.backups, "");
  const chosen = useData(daemon.settings, "");
  const key = chosen.data?.items.find((one) => one.name === "encryption_key");
  const make = () =>
    attempt(async () => {
      await daemon.backup();
      toast("A backup was made and verified.");
      copies.again();
    });
  const clear = () =>
    attempt(async () => {
      await daemon.removeSample();
      projects.value = projects.value.filter((one) => !isSample(one));
      toast("The sample project was removed.");
    });
  const items = copies.data?.items ?? [];
  return html`
    <${Card} title="Storage and backups" state=${state}>
      ${(data) => html`
        <div class="grid">
          <dl class="facts">
            <dt>Stored</dt>
            <dd>
              ${plural(data.records, "memory", "memories")}, ${plural(data.events, "event")}
            </dd>
            <dt>Free disk space</dt>
            <dd>${bytes(data.free_bytes)}</dd>
            <dt>Database</dt>
            <dd>
              ${data.problems.length ? html`
                <${Badge} tone="bad">${plural(data.problems.length, "problem")}<//>
                ${data.problems.map((line) => html`<div class="small wrap">${line}</div>`)}
              ` : html`<${Badge} tone="good">intact<//>`}
            </dd>
            <dt>Encryption</dt>
            <dd>
              ${key?.value ? "on" : html`off; <code class="small">recollect encrypt</code>`}
            </dd>
            <dt>Last backup</dt>
            <dd>
              ${items[0] ? html`
                <${Ago} at=${items[0].made_at} />, ${bytes(items[0].bytes)}
              ` : (
                "none yet"
              )}
            </dd>
          </dl>
          <p class="small soft">
            To erase a project, or what is older than a day, open${" "}
            <a href=${href("projects")}>its page</a>; a session is erased on its own.
          </p>
          <div class="row-line">
            <button onClick=${make}>Back up now</button>
            ${projects.value.some(isSample) ? html`
              <button onClick=${clear}>Remove the sample project</button>
            ` : null}
          </div>
        </div>
      `}
    <//>
  `;
}

const isSample = (one) =>
  one.name === "sample" &&
  one.records > 0 &&
  one.marks.some(({ value }) => value.endsWith("/sample"));

// A list is compared and shown by its items; what stands between backticks is code.
const shown = (value) => (Array.isArray(value) ? value.join(", ") : String(value));
const withCode = (text) =>
  text.split("`").map((part, i) => (i % 2 ? html`<code>${part}</code>` : part));

// The value that holds from the next start on, with a way back to the one before.
async function save(one, value, again) {
  const done = await daemon.setSetting(one.name, value);
  again();
  const same = shown(done.saved) === shown(done.value);
  const now = same ? "is in force" : "takes effect after recollect restart";
  toast(`${one.name} = ${shown(done.saved) || "empty"} ${now}.`, {
    act: () => save(one, shown(one.saved), again).catch(toastError),
  });
}

function All() {
  const state = useData(daemon.settings, "");
  const [changing, change] = useState(null);
  return html`
    <details class="card" open=${!NARROW.matches}>
      <summary>
        <h2>All settings</h2>
        <span class="push small soft">
          A change takes effect after <code>recollect restart</code>
        </span>
      </summary>
      <${Shown} state=${state}>
        ${(data) => html`
          <div class="table">
            <table>
              <thead>
                <tr>
                  <th>Name</th>
                  <th>Value</th>
                  <th>What it does</th>
                  <th><span class="hidden-visually">Change</span></th>
                </tr>
              </thead>
              <tbody>
                ${data.items.map((one) => html`
                  <tr key=${one.name}>
                    <td class="mono">${one.name}</td>
                    <td class="wrap">
                      ${shown(one.value) || html`<span class="faint">empty</span>`}
                      ${shown(one.value) !== shown(one.default) ? html`
                        ${" "}
                        <${Badge} tone="accent">changed<//>
                      ` : null}
                      ${shown(one.saved) !== shown(one.value) ? html`
                        ${" "}
                        <${Badge} tone="warn">after restart: ${shown(one.saved) || "empty"}<//>
                      ` : null}
                    </td>
                    <td>
                      ${withCode(one.help)}${" "}
                      <span class="faint small">
                        ${one.allowed ? `${one.allowed}; ` : ""}default${" "}
                        ${shown(one.default) || "empty"}
                      </span>
                    </td>
                    <td>
                      ${one.changeable ? html`
                        <button
                          aria-label=${`Change ${one.name}`}
                          onClick=${() => change(one)}>
                          Change
                        </button>
                      ` : html`<span class="faint small">terminal only</span>`}
                    </td>
                  </tr>
                `)}
              </tbody>
            </table>
          </div>
        `}
      <//>
      ${changing ? html`
        <${Change}
          key=${changing.name}
          one=${changing}
          close=${() => change(null)}
          save=${(value) => save(changing, value, state.again)}
        />
      ` : null}
    </details>
  `;
}

function Change({ one, close, save }) {
  const [error, fail] = useState(null);
  const send = async (value) => {
    try {
      await save(value);
      close();
    } catch (problem) {
      fail(problem);
    }
  };
  return html`
    <${FormDialog}
      label=${`Change ${one.name}`}
      close=${close}
      save=${(form) => send(form.get("value"))}
      more=${html`
        <button type="button" class="plain" onClick=${() => send(null)}>Use the default</button>
      `}>
      <h2 class="mono">${one.name}</h2>
      <p class="soft">${withCode(one.help)}</p>
      <label class="field">
        Value
        ${one.type === "bool" ? html`
          <select name="value" defaultValue=${String(one.saved)}>
            <option value="true" selected=${one.saved}>true</option>
            <option value="false" selected=${!one.saved}>false</option>
          </select>
        ` : html`
          <input
            type="text"
            name="value"
            maxlength="4000"
            defaultValue=${shown(one.saved)}
            aria-invalid=${Boolean(error)}
          />
        `}
      </label>
      ${error ? html`<div class="notice bad" role="alert">${error.message}</div>` : null}
      <p class="small faint">
        ${one.allowed ? `Allowed: ${one.allowed}. ` : ""}Now:${" "}
        ${shown(one.saved) || "empty"}. Default: ${shown(one.default) || "empty"}.
      </p>
    <//>
  `;
}
