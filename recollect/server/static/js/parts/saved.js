// Searches that have a name: saved, opened, deleted.
import * as daemon from "../daemon.js";
import { html, useState } from "../html.js";
import { Dialog } from "./dialog.js";
import { useData } from "./states.js";
import { toast, toastError } from "./toast.js";

const filtersIn = (params) => {
  const kept = Object.entries(params).filter(([, value]) => value !== "");
  return new URLSearchParams(kept.sort()).toString();
};

export function SavedSearches({ params }) {
  const state = useData(daemon.searches, "", ["reset"]);
  const [naming, name] = useState(false);
  const now = filtersIn(params);
  const items = state.data?.items ?? [];
  const drop = async (one) => {
    try {
      await daemon.dropSearch(one.name);
      const again = async () => {
        await daemon.saveSearch(one.name, one.filters);
        state.again();
      };
      toast(`Deleted the search “${one.name}”.`, { act: again });
      state.again();
    } catch (error) {
      toastError(error);
    }
  };
  const save = async (event) => {
    event.preventDefault();
    const given = new FormData(event.target).get("name").trim();
    name(false);
    try {
      await daemon.saveSearch(given, now);
      state.again();
    } catch (error) {
      toastError(error);
    }
  };
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
        <${Dialog} label="Save this search" close=${() => name(false)}>
          <form onSubmit=${save}>
            <div class="body grid">
              <h2>Save this search</h2>
              <label class="field">
                Name
                <input type="text" name="name" required maxlength="100" autofocus />
              </label>
            </div>
            <footer>
              <button type="button" onClick=${() => name(false)}>Cancel</button>
              <button class="primary" type="submit">Save</button>
            </footer>
          </form>
        <//>
      ` : null}
    </div>
  `;
}
