// Dialogs by the browser's own <dialog>: focus stays inside, Escape closes.
import { html, useEffect, useRef } from "../html.js";

export function Dialog({ label, kind = "", close, children }) {
  const box = useRef(null);
  useEffect(() => {
    const before = document.activeElement;
    box.current.showModal();
    return () => before?.focus?.();
  }, []);
  return html`
    <dialog
      ref=${box}
      class=${kind}
      aria-label=${label}
      onClose=${close}
      onClick=${(event) => event.target === box.current && box.current.close()}>
      ${children}
    </dialog>
  `;
}

export function Confirm({ title, text, yes = "Forget", tone = "danger", act, close }) {
  return html`
    <${Dialog} label=${title} close=${close}>
      <div class="body">
        <h2>${title}</h2>
        <p class="soft wrap">${text}</p>
      </div>
      <footer>
        <button onClick=${close}>Cancel</button>
        <button
          class=${tone}
          onClick=${() => {
            close();
            act();
          }}>
          ${yes}
        </button>
      </footer>
    <//>
  `;
}
