// A list of any length: rows of one height; only visible rows exist; more are read when needed.
// The row `at` is scrolled to and its link gets the focus.
import { html, useEffect, useLayoutEffect, useRef, useState } from "../html.js";
import { Loading } from "./states.js";

const AHEAD = 8;

export function VirtualList({ items, row, height, more, done, label, kind = "", at = null }) {
  const box = useRef(null);
  const [view, set] = useState({ top: 0, size: 700 });
  const measure = () =>
    box.current && set({ top: box.current.scrollTop, size: box.current.clientHeight });
  useLayoutEffect(() => {
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
  useEffect(() => {
    if (at == null) return;
    const { scrollTop, clientHeight } = box.current;
    if (at * height < scrollTop) box.current.scrollTop = at * height;
    else if ((at + 1) * height > scrollTop + clientHeight)
      box.current.scrollTop = (at + 1) * height - clientHeight;
    const frame = requestAnimationFrame(() =>
      box.current?.querySelector(`[data-at="${at}"] a`)?.focus({ preventScroll: true }),
    );
    return () => cancelAnimationFrame(frame);
  }, [at]);
  return html`
    <div
      class=${`virtual ${kind}`}
      ref=${box}
      role="region"
      aria-label=${label}
      onScroll=${measure}>
      <div
        class="inner"
        role="list"
        style=${{ height: `${items.length * height + (done ? 0 : 60)}px` }}>
        ${items.slice(first, last).map((item, i) => html`
          <div
            class="at"
            role="listitem"
            data-at=${first + i}
            key=${item.record_id ?? item.id ?? first + i}
            style=${{ top: `${(first + i) * height}px`, height: `${height}px` }}>
            ${row(item, first + i)}
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
