// Ctrl+K: one box that finds memories, entities and views.
import * as daemon from "../daemon.js";
import { html, signal, useEffect, useRef, useState } from "../html.js";
import { nameOf } from "../projects.js";
import { href } from "../route.js";
import { short } from "../format.js";
import { LISTED } from "../views.js";
import { Dialog } from "./dialog.js";
import { forgetting } from "./forgetabout.js";
import { Badge, Kind } from "./pieces.js";

export const palette = signal(false);
const WAIT_MS = 140;

const close = () => (palette.value = false);

export function Palette() {
  const [text, setText] = useState("");
  const [found, setFound] = useState([]);
  const [at, setAt] = useState(0);
  const [problem, setProblem] = useState(null);
  const box = useRef(null);
  useEffect(() => box.current?.focus(), []);
  useEffect(() => {
    addEventListener("hashchange", close);
    return () => removeEventListener("hashchange", close);
  }, []);
  useEffect(() => {
    const views = LISTED.filter(([, title]) =>
      title.toLowerCase().includes(text.toLowerCase()),
    ).map(([name, title]) => ({ key: name, to: href(name), badge: "View", title }));
    setAt(0);
    if (!text.trim()) {
      setFound(views);
      return;
    }
    const stop = new AbortController();
    const wait = setTimeout(async () => {
      const asked = [
        daemon.search({ query: text.slice(0, 1000), limit: 8 }, stop.signal),
        daemon.entities({ query: text.slice(0, 200), limit: 4 }),
      ];
      const [memories, entities] = await Promise.allSettled(asked);
      if (stop.signal.aborted) return;
      setProblem(memories.status === "rejected" ? memories.reason : null);
      setFound([
        ...(memories.value?.items ?? []).map(({ record }) => ({
          key: record.record_id,
          to: href("memories", record.record_id),
          record,
          title: record.title,
          extra: nameOf(record.namespace),
        })),
        ...(entities.value?.items ?? []).map((one) => ({
          key: one.entity_id,
          to: href("entity", one.entity_id),
          badge: one.type,
          title: one.name,
          extra: nameOf(one.namespace),
        })),
        ...views,
        {
          key: "search",
          to: href("memories", "", { q: text }),
          badge: "Search",
          title: `Search memories for “${text}”`,
        },
        { key: "forget", to: "", badge: "Forget", title: `Forget all about “${text}”…` },
      ]);
    }, WAIT_MS);
    return () => {
      clearTimeout(wait);
      stop.abort();
    };
  }, [text]);
  const open = (one) => {
    close();
    if (one.to) location.hash = one.to;
    else forgetting.value = text.trim();
  };
  const keys = (event) => {
    if (event.key === "ArrowDown") setAt((i) => Math.min(found.length - 1, i + 1));
    else if (event.key === "ArrowUp") setAt((i) => Math.max(0, i - 1));
    else if (event.key === "Enter" && found[at]) open(found[at]);
    else return;
    event.preventDefault();
  };
  return html`
    <${Dialog} label="Search everywhere" kind="palette" close=${close}>
      <input
        ref=${box}
        type="search"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant=${found[at] ? `found-${at}` : null}
        aria-label="Search everywhere"
        placeholder="Search memories, entities, views…"
        value=${text}
        onInput=${(event) => setText(event.target.value)}
        onKeyDown=${keys}
      />
      <ul class="items" id="palette-list" role="listbox" aria-label="Found">
        ${found.map((one, i) => html`
          <li key=${one.key} id=${`found-${i}`} role="option" aria-selected=${i === at}>
            <a
              class="item"
              tabindex="-1"
              href=${one.to || "#"}
              aria-current=${i === at ? "true" : null}
              onClick=${(event) => {
                event.preventDefault();
                open(one);
              }}>
              <span class="top">
                ${one.record
                  ? html`<${Kind} record=${one.record} />`
                  : html`<${Badge}>${one.badge}<//>`}
                <span class="title clip">${short(one.title, 120)}</span>
                <span class="faint small">${one.extra ?? ""}</span>
              </span>
            </a>
          </li>
        `)}
      </ul>
      ${problem ? html`
        <p class="state error" role="alert">${problem.message}</p>
      ` : null}
    <//>
  `;
}
