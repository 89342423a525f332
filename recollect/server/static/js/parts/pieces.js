// Small components that several views share.
import { html } from "../html.js";
import { iconOf, labelOf, signalOf, toneOf } from "../kinds.js";
import { nameOf, namespaceOf } from "../projects.js";
import { href } from "../route.js";
import { ago, FRESH, plural, short, TRIGGER, when } from "../format.js";

export const GLASS = "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM20 20l-4-4";
export const Icon = ({ path }) => html`
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

export const byTime = (params) => Boolean(params?.days || params?.since || params?.until);

// One memory as a row of a list: its words first, as far as two lines hold them. The time is when
// it was stored: lists are in that order. Where it was asked for by time, it is when it happened.
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
    <span class="two-lines">
      <span class="title">${record.title}</span>
      ${record.summary && record.summary !== record.title ? html`
        ${" "}<span class="soft">${short(record.summary, 300)}</span>
      ` : null}
    </span>
    <span class="row-line meta small faint">
      <${Kind} record=${record} />
      ${record.pinned ? html`<${Badge} tone="accent">Pinned<//>` : null}
      <${State} value=${record.state} />
      ${record.says_ended && record.state !== "ended"
        ? html`<${Badge} tone="warn">Says what no longer holds<//>`
        : null}
      <${Fresh} value=${record.freshness} />
      ${project ? html`<span>${project}</span>` : null}
      ${record.files?.length ? html`
        <code class="clip" title=${record.files.join("\n")}>
          ${record.files[0].split("/").at(-1)}
          ${record.files.length > 1 ? ` +${record.files.length - 1}` : ""}
        </code>
      ` : null}
      <${Ago}
        at=${byTime(params) ? record.valid_from : (record.created_at ?? record.valid_from)} />
    </span>
  </a>
`;

// One receipt as a row of a list.
export const ReceiptLine = ({ receipt, current, params }) => html`
  <a
    class="item"
    href=${href("why", receipt.receipt_id, params)}
    aria-current=${current ? "true" : null}>
    <span class="two-lines title">
      ${short(receipt.query || TRIGGER[receipt.trigger] || receipt.trigger, 200)}
    </span>
    <span class="row-line meta small faint">
      <${Badge} tone=${receipt.injected.length ? "info" : ""}>
        ${receipt.injected.length
          ? plural(receipt.injected.length, "memory", "memories")
          : receipt.tokens
            ? "no memory"
            : "nothing"}
      <//>
      <span>${nameOf(receipt.namespace)}</span>
      ${receipt.tokens
        ? html`<span class="tokens">${plural(receipt.tokens, "token")}</span>`
        : null}
      <${Ago} at=${receipt.created_at} />
    </span>
  </a>
`;

// A prompt moves its session's time; a session that is not listed yet has the list read again.
export function withPrompt(data, _kind, told) {
  const known = data.items.some((one) => one.session_id === told.session_id);
  if (!known) return undefined;
  return {
    ...data,
    items: data.items.map((one) =>
      one.session_id === told.session_id ? { ...one, last_event_at: told.valid_time } : one,
    ),
  };
}

// A new receipt at the top of a list of them, if it belongs there.
export const withReceipt =
  ({ project, session_id }) =>
  (data, _kind, told) =>
    (!project || project === "all" || told.namespace === namespaceOf(project)) &&
    (!session_id || told.session_id === session_id)
      ? { ...data, items: [told, ...data.items].slice(0, Math.max(6, data.items.length)) }
      : data;

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

// The share each signal has in a score; those without any are left out.
export function Parts({ parts }) {
  const entries = Object.entries(parts ?? {}).filter(
    ([, value]) => typeof value === "number" && value,
  );
  const most = Math.max(1e-9, ...entries.map(([, value]) => Math.abs(value)));
  return html`
    <div class="parts">
      ${entries.map(([name, value]) => html`
        <span class="soft">${signalOf(name)}</span>
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
