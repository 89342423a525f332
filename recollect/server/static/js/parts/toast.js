// Short messages in the corner: what was done, with a button to undo it.
import { html, signal } from "../html.js";

const shown = signal([]);
let last = 0;

export function toast(text, { act, label = "Undo", tone = "" } = {}) {
  last += 1;
  const id = last;
  shown.value = [...shown.value, { id, text, act, label, tone }];
  setTimeout(() => drop(id), act ? 12000 : 5000);
}
export const toastError = (error) =>
  toast(`${error.message}${error.hint ? ` Try: ${error.hint}` : ""}`);
// Does something, and says what went wrong if it fails.
export async function attempt(work) {
  try {
    return await work();
  } catch (error) {
    toastError(error);
  }
}
const drop = (id) => (shown.value = shown.value.filter((one) => one.id !== id));

export const Toasts = () => html`
  <div class="toasts" role="status" aria-live="polite">
    ${shown.value.map((one) => html`
      <div class="toast" key=${one.id}>
        <span>${one.text}</span>
        ${one.act ? html`
          <button
            onClick=${() => {
              drop(one.id);
              one.act();
            }}>
            ${one.label}
          </button>
        ` : null}
      </div>
    `)}
  </div>
`;
