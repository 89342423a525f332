// What a section shows while it loads, when it is empty, and when it fails. Each fails alone.
import { Component, html, useEffect, useRef, useState } from "../html.js";
import { listen } from "../live.js";

const SOON_MS = 150;
const EVERY_MS = 3000;

export const Loading = ({ lines = 4 }) => html`
  <div role="status" aria-label="Loading">
    ${Array.from({ length: lines }, (_, i) => html`
      <div class="loading" key=${i} style=${{ width: `${92 - 13 * (i % 3)}%` }}></div>
    `)}
  </div>
`;

export const Empty = ({ title, children }) => html`
  <div class="state">
    <h3>${title}</h3>
    ${children}
  </div>
`;

export function Failure({ error, again }) {
  return html`
    <div class="state error" role="alert">
      <h3>${error.message}</h3>
      ${error.field ? html`
        <p>Field: <code>${error.field}</code></p>
      ` : null}
      ${error.hint ? html`
        <p>Try: <code>${error.hint}</code></p>
      ` : null}
      ${again ? html`
        <div class="row-line"><button onClick=${again}>Try again</button></div>
      ` : null}
    </div>
  `;
}

// A section that fails says so, and leaves the rest of the page alone.
export class Section extends Component {
  componentDidCatch(error) {
    this.setState({ error });
  }
  render({ children }, { error }) {
    if (!error) return children;
    const shown = {
      message: "This part of the page failed.",
      hint: String(error.message ?? error),
    };
    return html`<${Failure} error=${shown} again=${() => this.setState({ error: null })} />`;
  }
}

// Data from the daemon: read at the start, when `key` changes, and when news of these kinds come,
// at most once in EVERY_MS. `patch(data, kind, told)` can make new data of the news alone: what it
// returns is shown without a request, and undefined has the data read again, as have news that
// come while it is read: the answer may be from before them.
export function useData(load, key, kinds = [], patch) {
  const [state, set] = useState({ data: null, error: null, busy: true });
  const [turn, again] = useState(0);
  const held = useRef(null);
  const reading = useRef(null);
  const latest = useRef(patch);
  latest.current = patch;
  useEffect(() => {
    const stop = new AbortController();
    reading.current = stop;
    set((old) => ({ ...old, busy: true }));
    const show = (next) => {
      reading.current = null;
      held.current = next.data;
      set(next);
    };
    load(stop.signal).then(
      (data) => stop.signal.aborted || show({ data, error: null, busy: false }),
      (error) =>
        stop.signal.aborted ||
        error.name === "AbortError" ||
        show({ data: held.current, error, busy: false }),
    );
    return () => stop.abort();
  }, [key, turn]);
  useEffect(() => {
    if (!kinds.length) return;
    let timer = 0;
    let last = 0;
    const stop = listen((kind, told) => {
      if (kind !== "reset" && !kinds.includes(kind)) return;
      if (kind !== "reset" && latest.current && held.current) {
        const data = latest.current(held.current, kind, told ?? {});
        if (data !== undefined) {
          if (data !== held.current) set((old) => ({ ...old, data }));
          held.current = data;
          if (!reading.current) return;
        }
      }
      timer ||= setTimeout(
        () => {
          timer = 0;
          last = Date.now();
          again((n) => n + 1);
        },
        Math.max(SOON_MS, last + EVERY_MS - Date.now()),
      );
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [key, kinds.join()]);
  return { ...state, again: () => again((n) => n + 1) };
}

// A list that comes in pages: `read(next)` gives { items, next }. `more` is null at the end.
export function usePages(read, key, kinds, patch) {
  const [later, setLater] = useState([]);
  const first = async () => {
    const page = await read();
    setLater([]);
    return page;
  };
  const state = useData(first, key, kinds, patch);
  const pages = state.data ? [state.data, ...later] : [];
  const next = pages.at(-1)?.next;
  return {
    ...state,
    items: pages.flatMap((page) => page.items),
    more: next == null ? null : async () => setLater([...later, await read(next)]),
  };
}

// A card whose content comes from the daemon.
export const Card = ({ title, state, empty, children }) => html`
  <section class="card" aria-label=${title}>
    <header><h2>${title}</h2></header>
    <div class="body"><${Shown} state=${state} empty=${empty}>${children}<//></div>
  </section>
`;

// What a card shows in place of an empty list.
export const none = (words, list = (data) => data.items) => ({
  when: (data) => !list(data).length,
  show: html`<p class="soft">${words}</p>`,
});

// Shows one of these states, or what `children` makes of the data.
export function Shown({ state, empty, children }) {
  if (state.error && !state.data)
    return html`<${Failure} error=${state.error} again=${state.again} />`;
  if (!state.data) return html`<${Loading} />`;
  return empty?.when(state.data) ? empty.show : children(state.data);
}
