// Small components that several views share.
import { html } from "../html.js";
import { iconOf, labelOf, toneOf } from "../kinds.js";
import { nameOf } from "../projects.js";
import { href } from "../route.js";
import { ago, FRESH, ms, plural, short, TRIGGER, when } from "../format.js";

const PATHS = {
  week: "M4 6h16v14H4zM4 10h16M8 3v4M16 3v4",
  beliefs: "M6 3h12v18l-6-4.5L6 21zM9 9.5l2 2 4-4",
  memories: "M4 5h16M4 12h16M4 19h10",
  why:
    "M9.1 9a3 3 0 1 1 4.4 2.6c-.9.5-1.5 1-1.5 2.1M12 17.5v.01" +
    "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18z",
  graph:
    "M6 7a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM18 9a2 2 0 1 0 0-4 2 2 0 0 0 0 4z" +
    "M9 20a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM7.8 5.6l8.3 1.2M6.5 7l2 9M16.6 8.6l-6.3 8",
  timeline: "M12 3v18M12 7h7M12 12H5M12 17h7",
  sessions: "M4 5h16v11H9l-5 4z",
  settings: "M4 7h10M18 7h2M4 17h2M10 17h10M16 5v4M8 15v4",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM20 20l-4-4",
  pin: "M12 17v5M7 3h10l-2 7 3 4H6l3-4z",
};
export const Icon = ({ name, path = PATHS[name] }) => html`
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d=${path} /></svg>
`;

export const Badge = ({ tone = "", title, children }) => html`
  <span class=${`badge ${tone}`} title=${title}>
    ${children}
  </span>
`;
export const Kind = ({ record }) => html`
  <${Badge} tone=${toneOf(record)}><${Icon} path=${iconOf(record)} />${labelOf(record)}<//>
`;
export const Fresh = ({ value }) =>
  FRESH[value] ? html`<${Badge} tone=${FRESH[value][0]}>${FRESH[value][1]}<//>` : null;
const STATES = { ended: "Ended", proposed: "Proposed", disputed: "Disputed" };
export const State = ({ value }) =>
  STATES[value] ? html`<${Badge} tone="warn">${STATES[value]}<//>` : null;
export const Ago = ({ at }) => html`
  <time class="faint small" datetime=${at} title=${when(at)}>${ago(at)}</time>
`;

// One memory as a line of a list, with the time at which it was stored: lists are in that order.
export const MemoryLine = ({
  record,
  project,
  current,
  params,
  where = "memories",
}) => html`
  <a
    class="item"
    href=${href(where, record.record_id, params)}
    aria-current=${current ? "true" : null}>
    <span class="top">
      <${Kind} record=${record} />
      ${record.pinned ? html`<${Badge} tone="accent">Pinned<//>` : null}
      <${State} value=${record.state} />
      <span class="title clip">${record.title}</span>
      <${Ago} at=${record.created_at ?? record.valid_from} />
    </span>
    <span class="row-line small soft">
      <span class="clip">
        ${record.summary && record.summary !== record.title
          ? record.summary
          : ((record.facts ?? [])[0] ?? "")}
      </span>
    </span>
    <span class="row-line small faint">
      ${project ? html`<span>${project}</span>` : null}
      ${(record.files ?? []).slice(0, 2).map((file) => html`
        <code class="clip" key=${file}>${file}</code>
      `)}
      <${Fresh} value=${record.freshness} />
    </span>
  </a>
`;

// One receipt as a line of a list.
export const ReceiptLine = ({ receipt, current, params }) => html`
  <a
    class="item"
    href=${href("why", receipt.receipt_id, params)}
    aria-current=${current ? "true" : null}>
    <span class="top">
      <${Badge} tone=${receipt.injected.length ? "info" : ""}>
        ${receipt.injected.length
          ? plural(receipt.injected.length, "memory", "memories")
          : "nothing"}
      <//>
      <span class="title clip">
        ${short(receipt.query || TRIGGER[receipt.trigger] || receipt.trigger, 140)}
      </span>
      <${Ago} at=${receipt.created_at} />
    </span>
    <span class="row-line small faint">
      <span>${nameOf(receipt.namespace)}</span>
      <span>${plural(receipt.tokens, "token")}</span>
      <span>${ms(receipt.latency_us)}</span>
    </span>
  </a>
`;

// A row of buttons of which one is chosen; options are [value, label].
export const Segments = ({ label, options, value, choose, push }) => html`
  <div class=${push ? "segments push" : "segments"} role="group" aria-label=${label}>
    ${options.map(([name, words]) => html`
      <button key=${name} aria-pressed=${value === name} onClick=${() => choose(name)}>
        ${words}
      </button>
    `)}
  </div>
`;

// What the signals of a score are called.
const SIGNALS = {
  grams: "same words",
  window: "words close together",
  pairs: "word pairs",
  cosine: "meaning",
  alone: "meaning, alone",
  session: "words of its session",
  session_cosine: "meaning of its session",
  neighbour: "the turns around it",
  date: "date in the question",
  user: "your own words",
  graph: "related in the graph",
  answer: "answers it",
};

// The share each signal has in a score; those without any are left out.
export function Parts({ parts }) {
  const entries = Object.entries(parts ?? {}).filter(
    ([, value]) => typeof value === "number" && value,
  );
  const most = Math.max(1e-9, ...entries.map(([, value]) => Math.abs(value)));
  return html`
    <div class="parts">
      ${entries.map(([name, value]) => html`
        <span class="soft">${SIGNALS[name] ?? name.replaceAll("_", " ")}</span>
        <span class="bar">
          <i style=${{ width: `${(100 * Math.abs(value)) / most}%` }}></i>
        </span>
        <span class="num">${value.toFixed(3)}</span>
      `)}
    </div>
  `;
}

export const Metric = ({ value, label, to }) => html`
  <div class="card metric">
    <b>${value}</b>
    ${to ? html`<a href=${to}>${label}</a>` : html`<span>${label}</span>`}
  </div>
`;
