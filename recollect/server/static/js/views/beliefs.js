// Beliefs (preferences and facts) and procedures in force, each of which can be corrected.
import * as daemon from "../daemon.js";
import { html, useState } from "../html.js";
import { nameOf, ProjectFilter } from "../projects.js";
import { href } from "../route.js";
import { when } from "../format.js";
import { Confirm, Dialog } from "../parts/dialog.js";
import { Badge } from "../parts/pieces.js";
import { Empty, Section, Shown, useData } from "../parts/states.js";
import { toast, toastError } from "../parts/toast.js";
import { undo } from "../parts/undo.js";

const SURE = { corrected: "good", stated: "good", observed: "info", inferred: "" };

export function Beliefs({ params, tabs }) {
  const state = useData(
    () => daemon.beliefs({ project: params.project, limit: 500 }),
    params.project ?? "",
    ["memory", "run", "reset"],
  );
  return html`
    <div>
      <div class="head">
        <h1>Memories</h1>
        ${tabs}
        <p class="lead">
          What Recollect holds to be true now. Correct or remove an entry; both can be undone.
        </p>
      </div>
      <div class="filters"><${ProjectFilter} /></div>
      <${Section}>
        <${Shown} state=${state}>
          ${(data) => html`
            <div class="grid">
              <${Table}
                title="Preferences"
                none=${
                  "No preferences yet: tell an agent “always use pnpm here”, " +
                  "and it will be listed here."
                }
                items=${data.preferences.map((one) => ({
                  id: one.preference_id,
                  what: `${one.category}.${one.key}`,
                  value: one.value,
                  sure: one.strength,
                  source: one.source_type,
                  at: one.updated_at,
                  namespace: one.namespace,
                  edit: true,
                }))}
                again=${state.again}
              />
              <${Table}
                title="Facts"
                none="No facts yet: they are learned as your agents work."
                items=${data.facts.map((one) => ({
                  id: one.fact_id,
                  what: `${one.subject} ${one.predicate.replaceAll("_", " ")}`,
                  value: one.object,
                  sure: one.confidence,
                  source: one.source_type,
                  at: one.valid_from,
                  namespace: one.namespace,
                  edit: true,
                  sensitive: one.sensitive,
                }))}
                again=${state.again}
              />
              <${Table}
                title="Procedures"
                none="No procedures yet: steps are learned when they are repeated a third time."
                items=${data.procedures.map((one) => ({
                  id: one.procedure_id,
                  what: one.name,
                  value: one.steps.join(" → "),
                  sure: one.confidence,
                  source: `${one.successes} of ${one.successes + one.failures} worked`,
                  at: one.updated_at,
                  namespace: one.namespace,
                }))}
                again=${state.again}
              />
            </div>
          `}
        <//>
      <//>
    </div>
  `;
}

function Table({ title, none, items, again }) {
  const [dialog, open] = useState(null);
  const act = async (work, words) => {
    open(null);
    try {
      const done = await work();
      toast(words, { act: () => undo(done.op_id, again) });
      again();
    } catch (error) {
      toastError(error);
    }
  };
  return html`
    <section class="card" aria-label=${title}>
      <header><h2>${title}</h2></header>
      ${items.length ? html`
        <div class="table" tabindex="0" role="region" aria-label=${`Table: ${title}`}>
          <table>
            <thead>
              <tr>
                <th>What</th>
                <th>Value</th>
                <th>Confidence</th>
                <th>Since</th>
                <th>Project</th>
                <th><span class="hidden-visually">Actions</span></th>
              </tr>
            </thead>
            <tbody>
              ${items.map((one) => html`
                <tr key=${one.id}>
                  <td class="wrap">
                    <a href=${href("memories", "", { q: one.what })}>${one.what}</a>
                  </td>
                  <td class="wrap">
                    ${one.value}${" "}
                    ${one.sensitive ? html`<${Badge} tone="warn">sensitive<//>` : null}
                  </td>
                  <td>
                    <${Badge} tone=${SURE[one.source] ?? ""}>${one.source}<//>${" "}
                    ${Math.round(one.sure * 100)} %
                  </td>
                  <td>${when(one.at)}</td>
                  <td>${nameOf(one.namespace)}</td>
                  <td>
                    <div class="row-line">
                      ${one.edit ? html`
                        <button
                          onClick=${() => open({ one, kind: "edit" })}
                          aria-label=${`Correct ${one.what}`}>
                          Correct
                        </button>
                      ` : null}
                      <button
                        class="danger"
                        onClick=${() => open({ one, kind: "delete" })}
                        aria-label=${`Remove ${one.what}`}>
                        Remove
                      </button>
                    </div>
                  </td>
                </tr>
              `)}
            </tbody>
          </table>
        </div>
      ` : html`
        <${Empty} title="None"><p>${none}</p><//>
      `}
      ${dialog?.kind === "delete" ? html`
        <${Confirm}
          title="Remove it?"
          yes="Remove"
          text=${`${dialog.one.what}: ${dialog.one.value}`}
          close=${() => open(null)}
          act=${() => act(() => daemon.removeBelief(dialog.one.id), "Removed.")}
        />
      ` : null}
      ${dialog?.kind === "edit" ? html`
        <${Correct}
          one=${dialog.one}
          close=${() => open(null)}
          save=${(change) => act(() => daemon.correct(dialog.one.id, change), "Corrected.")}
        />
      ` : null}
    </section>
  `;
}

function Correct({ one, close, save }) {
  const submit = (event) => {
    event.preventDefault();
    save({ value: new FormData(event.target).get("value") });
  };
  return html`
    <${Dialog} label=${`Correct ${one.what}`} close=${close}>
      <form onSubmit=${submit}>
        <div class="body grid">
          <h2 class="wrap">${one.what}</h2>
          <label class="field">
            Value
            <input name="value" type="text" required maxlength="500" value=${one.value} />
          </label>
        </div>
        <footer>
          <button type="button" onClick=${close}>Cancel</button>
          <button class="primary" type="submit">Save</button>
        </footer>
      </form>
    <//>
  `;
}
