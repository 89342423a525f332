// What is done to several beliefs at once: decide, change the type or how far they hold, merge.
import * as daemon from "../daemon.js";
import { html, useState } from "../html.js";
import { plural } from "../format.js";
import { Reach } from "./belief.js";
import { FormDialog } from "./dialog.js";
import { ActionBar, Choose, doEach, retypeAll, sharedTypes } from "./selection.js";

export function BeliefBulk({ selection, items, again }) {
  const [dialog, open] = useState("");
  const { records } = selection;
  const close = () => open("");
  const after = () => {
    selection.clear();
    again();
  };
  const decide = (some, work, words) =>
    doEach(some, async (one) => [(await work(one)).operation.op_id], words, after);
  const many = plural(records.length, "belief");
  const waiting = records.filter((one) => one.state !== "current");
  const holding = records.filter((one) => one.state !== "ended");
  const together =
    holding.length > 1 &&
    holding.length === records.length &&
    new Set(records.map((one) => one.namespace)).size === 1;
  return html`
    <${ActionBar}
      selection=${selection}
      many=${items.length}
      all=${() => selection.all(items)}>
      ${waiting.length ? html`
        <button
          class="primary"
          onClick=${() =>
            decide(waiting, (one) => daemon.keep(one.record_id), `Kept ${many}.`)
          }>
          Keep
        </button>
      ` : null}
      ${holding.length ? html`
        <button
          class="danger"
          onClick=${() =>
            decide(holding, (one) => daemon.drop(one.record_id), `Forgot ${many}.`)
          }>
          Forget
        </button>
        <button onClick=${() => open("retype")}>Change type…</button>
        <button onClick=${() => open("reach")}>Move…</button>
        <button
          disabled=${!together}
          title=${together ? null : "Choose two or more of one project that hold"}
          onClick=${() => open("merge")}>
          Merge…
        </button>
      ` : null}
    <//>
    ${dialog === "retype" ? html`
      <${Choose}
        title="Change the type"
        label="Type"
        options=${sharedTypes(records).map((one) => [one.name, one.label])}
        yes="Change"
        close=${close}
        act=${(type) => retypeAll(records, type, after)}
      />
    ` : null}
    ${dialog === "reach" ? html`
      <${Reach}
        record=${{ ...records[0], title: many }}
        several=${new Set(records.map((one) => one.namespace)).size > 1}
        close=${close}
        save=${(_event, change) => {
          close();
          decide(holding, (one) => daemon.reach(one.record_id, change), `Changed ${many}.`);
        }}
      />
    ` : null}
    ${dialog === "merge" ? html`
      <${Merge}
        records=${records}
        close=${close}
        act=${(kept) => {
          close();
          const others = records.map((one) => one.record_id).filter((one) => one !== kept);
          decide([kept], (one) => daemon.merge(one, others), `Merged ${many} into one.`);
        }}
      />
    ` : null}
  `;
}

const Merge = ({ records, close, act }) => html`
  <${FormDialog}
    label="Merge these beliefs"
    yes="Merge"
    close=${close}
    save=${(form) => act(form.get("kept"))}>
    <h2>Which one says it best?</h2>
    <p class="soft">It goes on to hold; the others end. You can undo this.</p>
    ${records.map((one, i) => html`
      <label class="row-line option" key=${one.record_id}>
        <input type="radio" name="kept" value=${one.record_id} defaultChecked=${!i} />
        <span class="wrap">${one.title}</span>
      </label>
    `)}
  <//>
`;
