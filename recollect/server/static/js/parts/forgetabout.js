// Forgetting everything about something: what mentions it is shown first.
import * as daemon from "../daemon.js";
import { html, signal } from "../html.js";
import { plural } from "../format.js";
import { Dialog } from "./dialog.js";
import { forgetAll } from "./selection.js";
import { Shown, useData } from "./states.js";

// What to forget everything about; empty when nobody asked.
export const forgetting = signal("");
const SHOWN = 8;
const close = () => (forgetting.value = "");

export function ForgetAbout() {
  const text = forgetting.value;
  const state = useData(() => daemon.mentions(text), text);
  const ids = (state.data?.chosen ?? []).flatMap((one) => one.record_ids);
  const titles = (state.data?.chosen ?? []).flatMap((one) => one.titles);
  const act = () => {
    close();
    forgetAll(
      ids.map((record_id) => ({ record_id })),
      () => {},
    );
  };
  return html`
    <${Dialog} label=${`Forget all about ${text}`} close=${close}>
      <div class="body grid">
        <h2>Forget all about “${text}”?</h2>
        <${Shown}
          state=${state}
          empty=${{ when: () => !ids.length, show: html`<p>No memory mentions it.</p>` }}>
          ${() => html`
            <p>
              ${plural(ids.length, "memory mentions", "memories mention")} it. They will no longer
              be found or injected. You can undo this for 30 days.
            </p>
            <ul>
              ${titles.slice(0, SHOWN).map((title) => html`
                <li class="wrap" key=${title}>${title}</li>
              `)}
              ${ids.length > SHOWN ? html`
                <li class="faint">and ${ids.length - SHOWN} more</li>
              ` : null}
            </ul>
          `}
        <//>
      </div>
      <footer>
        <button onClick=${close}>Cancel</button>
        <button class="danger" disabled=${!ids.length} onClick=${act}>Forget</button>
      </footer>
    <//>
  `;
}
