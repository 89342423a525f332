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

// A dialog with a form; `save` is given what stands in it, and the event. `more`: further buttons.
export function FormDialog({ label, yes = "Save", close, save, more, children }) {
  const submit = (event) => {
    event.preventDefault();
    save(new FormData(event.target), event);
  };
  return html`
    <${Dialog} label=${label} close=${close}>
      <form onSubmit=${submit}>
        <div class="body grid">${children}</div>
        <footer>
          ${more}
          <button type="button" onClick=${close}>Cancel</button>
          <button class="primary" type="submit">${yes}</button>
        </footer>
      </form>
    <//>
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
