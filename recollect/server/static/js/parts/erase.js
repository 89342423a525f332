// Erasing for good: a session, a project, or what is from before a day. What that takes with it is
// shown first, and counted again when the choice changes.
import * as daemon from "../daemon.js";
import { html, useState } from "../html.js";
import { plural } from "../format.js";
import { Dialog } from "./dialog.js";
import { Shown, useData } from "./states.js";
import { attempt, toast } from "./toast.js";

const SHOWN = 8;
const WORDS = {
  memory: ["memory", "memories"],
  entity: ["entity", "entities"],
  operation: ["log entry (its words)", "log entries (their words)"],
  version: ["archived version"],
  waiting_claims: ["claim made only once", "claims made only once"],
  extraction_runs: ["extraction run"],
};
const words = (counts) =>
  Object.entries(counts)
    .map(([kind, number]) => plural(number, ...(WORDS[kind] ?? [kind.replaceAll("_", " ")])))
    .join(", ");

// `chosen`: the selection that is erased. With `aged`, it can be narrowed to what is from before a
// day. `done` is called when it is gone.
export function EraseButton({ label, title, chosen, aged, done }) {
  const [open, set] = useState(false);
  return html`
    <button onClick=${() => set(true)}>${label}</button>
    ${open ? html`
      <${Erase}
        title=${title}
        chosen=${chosen}
        aged=${aged}
        close=${() => set(false)}
        done=${done}
      />
    ` : null}
  `;
}

function Erase({ title, chosen, aged, close, done }) {
  const [day, setDay] = useState("");
  const [backups, setBackups] = useState(false);
  const wanted = { ...chosen, backups };
  if (day) {
    wanted.everything = false;
    wanted.older_than = new Date(`${day}T00:00`).toISOString();
  }
  const state = useData(() => daemon.erase(wanted, true), JSON.stringify(wanted));
  const found = state.error || state.busy ? null : state.data;
  const act = () => {
    close();
    attempt(async () => {
      const gone = await daemon.erase(wanted, false);
      toast(`Erased: ${words(gone.counts) || "the project itself"}.`);
      done(day);
    });
  };
  return html`
    <${Dialog} label=${title} close=${close}>
      <div class="body grid">
        <h2 class="wrap">${title}</h2>
        ${aged ? html`
          <label class="field">
            Only what is from before
            <input type="date" value=${day} onInput=${(event) => setDay(event.target.value)} />
          </label>
        ` : null}
        <label class="row-line">
          <input
            type="checkbox"
            checked=${backups}
            onChange=${(event) => setBackups(event.target.checked)}
          />
          In the backups, too
        </label>
        <div role="status" aria-live="polite">
          <${Shown} state=${{ ...state, data: state.error ? null : state.data }}>
            ${(data) => html`<${Preview} data=${data} />`}
          <//>
        </div>
        <p><b>This cannot be undone.</b></p>
      </div>
      <footer>
        <button onClick=${close}>Cancel</button>
        <button class="danger" disabled=${!found} onClick=${act}>Erase for good</button>
      </footer>
    <//>
  `;
}

function Preview({ data }) {
  const titles = data.chosen.flatMap((one) => one.titles);
  const memories = data.counts.memory ?? 0;
  return html`
    <div>
      <p>
        ${words(data.counts) || "Nothing is stored in it: the project itself"}
        ${data.backups ? `; in ${plural(data.backups, "backup")}` : ""}
      </p>
      <ul>
        ${titles.slice(0, SHOWN).map((title) => html`
          <li class="wrap" key=${title}>${title}</li>
        `)}
        ${memories > SHOWN ? html`
          <li class="faint">and ${plural(memories - SHOWN, "more memory", "more memories")}</li>
        ` : null}
      </ul>
    </div>
  `;
}
