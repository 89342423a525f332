// Searches that have a name: saved, opened, deleted.
import * as daemon from "../daemon.js";
import { html, useState } from "../html.js";
import { FormDialog } from "./dialog.js";
import { useData } from "./states.js";
import { attempt, toast } from "./toast.js";

const filtersIn = (params) => {
  const kept = Object.entries(params).filter(([, value]) => value !== "");
  return new URLSearchParams(kept.sort()).toString();
};

export function SavedSearches({ params }) {
  const state = useData(daemon.searches, "", ["reset"]);
  const [naming, name] = useState(false);
  const now = filtersIn(params);
  const items = state.data?.items ?? [];
  const drop = (one) =>
    attempt(async () => {
      await daemon.dropSearch(one.name);
      const again = async () => {
        await daemon.saveSearch(one.name, one.filters);
        state.again();
      };
      toast(`Deleted the search “${one.name}”.`, { act: again });
      state.again();
    });
  const save = (form) =>
    attempt(async () => {
      name(false);
      await daemon.saveSearch(form.get("name").trim(), now);
      state.again();
    });
  const known = items.some((one) => one.filters === now);
  return html`
    <div class="saved row-line" role="group" aria-label="Saved searches">
      ${items.map((one) => html`
        <span class=${`tag ${one.filters === now ? "on" : ""}`} key=${one.name}>
          <a
            href=${`#/memories?${one.filters}`}
            aria-current=${one.filters === now ? "true" : null}>
            ${one.name}
          </a>
          <button onClick=${() => drop(one)} aria-label=${`Delete the search ${one.name}`}>
            ×
          </button>
        </span>
      `)}
      ${now && !known ? html`
        <button class="plain small" onClick=${() => name(true)}>Save this search…</button>
      ` : null}
      ${naming ? html`
        <${FormDialog} label="Save this search" close=${() => name(false)} save=${save}>
          <h2>Save this search</h2>
          <label class="field">
            Name
            <input type="text" name="name" required maxlength="100" autofocus />
          </label>
        <//>
      ` : null}
    </div>
  `;
}
