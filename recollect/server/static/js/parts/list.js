// A list of any length: rows of one height; only visible rows exist; more are read when needed.
import { html, useEffect, useLayoutEffect, useRef, useState } from "../html.js";
import { Loading } from "./states.js";

const AHEAD = 8;

export function VirtualList({ items, row, height, more, done, label }) {
  const box = useRef(null);
  const [view, set] = useState({ top: 0, size: 700 });
  useLayoutEffect(() => {
    const measure = () =>
      box.current && set({ top: box.current.scrollTop, size: box.current.clientHeight });
    measure();
    const watcher = new ResizeObserver(measure);
    watcher.observe(box.current);
    return () => watcher.disconnect();
  }, []);
  const first = Math.max(0, Math.floor(view.top / height) - AHEAD);
  const last = Math.min(items.length, Math.ceil((view.top + view.size) / height) + AHEAD);
  useEffect(() => {
    if (!done && last >= items.length - AHEAD) more();
  }, [last, items.length, done]);
  return html`
    <div
      class="virtual"
      ref=${box}
      tabindex="0"
      role="region"
      aria-label=${label}
      onScroll=${(event) =>
        set({ top: event.target.scrollTop, size: event.target.clientHeight })
      }>
      <div
        class="inner"
        role="list"
        style=${{ height: `${items.length * height + (done ? 0 : 60)}px` }}>
        ${items.slice(first, last).map((item, i) => html`
          <div
            class="at"
            role="listitem"
            key=${item.record_id ?? item.id ?? first + i}
            style=${{ top: `${(first + i) * height}px`, height: `${height}px` }}>
            ${row(item)}
          </div>
        `)}
        ${done || last < items.length ? null : html`
          <div class="at" style=${{ top: `${items.length * height}px`, height: "60px" }}>
            <${Loading} lines=${2} />
          </div>
        `}
      </div>
    </div>
  `;
}
