// Why: what each prompt was answered with, what was left out and why; and what another would get.
import * as daemon from "../daemon.js";
import { html, useState } from "../html.js";
import { lastUsed, nameOf, ProjectFilter } from "../projects.js";
import { href, refine, route } from "../route.js";
import { ms, plural, TRIGGER, when } from "../format.js";
import { Ago, Badge, Parts, ReceiptLine, Segments, withReceipt } from "../parts/pieces.js";
import { Empty, Section, Shown, useData } from "../parts/states.js";
import { attempt, toast } from "../parts/toast.js";

export function Why() {
  const { id, params } = route.value;
  return html`
    <div>
      <div class="head">
        <h1>Why</h1>
        <p class="lead">What was added to each prompt and why, and what was left out.</p>
      </div>
      <div class="filters">
        <${Segments}
          label="Show"
          options=${[
            ["", "Receipts"],
            ["1", "Try a question"],
          ]}
          value=${params.try ?? ""}
          choose=${(name) => refine({ try: name })}
        />
        <${ProjectFilter} one=${params.try ? lastUsed() : undefined} />
      </div>
      ${params.try ? html`
        <${Section}><${Bench} /><//>
      ` : html`
        <div class=${id ? "grid master" : "grid"}>
          <${Section}><${List} id=${id} params=${params} /><//>
          ${id ? html`
            <${Section} key=${id}><${One} id=${id} /><//>
          ` : null}
        </div>
      `}
    </div>
  `;
}

function List({ id, params }) {
  const state = useData(
    () =>
      daemon.receipts({
        limit: 60,
        project: params.project ?? "all",
        session_id: params.session_id,
      }),
    JSON.stringify(params),
    ["receipt"],
    withReceipt(params),
  );
  return html`
    <section class="card" aria-label="Receipts">
      <header><h2>Newest first</h2></header>
      <${Shown}
        state=${state}
        empty=${{
          when: (data) => !data.items.length,
          show: html`
            <${Empty} title="No receipts yet">
              <p>
                Every prompt and every start of a session gets a receipt, even when nothing was
                injected.
              </p>
            <//>
          `,
        }}>
        ${(data) => html`
          <ul class="items">
            ${data.items.map((one) => html`
              <li key=${one.receipt_id}>
                <${ReceiptLine} receipt=${one} current=${one.receipt_id === id} params=${params} />
              </li>
            `)}
          </ul>
        `}
      <//>
    </section>
  `;
}

function One({ id }) {
  const state = useData(() => daemon.receipt(id), id);
  return html`
    <section class="card panel" aria-label="One receipt">
      <${Shown} state=${state}>
        ${(one) => {
          const detail = one.detail ?? {};
          return html`
            <header>
              <h2>${TRIGGER[one.trigger] ?? one.trigger}</h2>
              <${Ago} at=${one.created_at} />
              <span class="push">
                <a class="button" href=${href("why")} aria-label="Close this receipt">
                  Close
                </a>
              </span>
            </header>
            <div class="body grid">
              ${one.query ? html`
                <div>
                  <h3>The prompt</h3>
                  <div class="quote wrap">${one.query}</div>
                </div>
              ` : null}
              <${Outcome}
                heading=${`What the agent ${detail.shadow ? "would have been" : "was"} told`}
                text=${detail.text || detail.shadow_text}
                nothing=${detail.shadow
                  ? "Nothing, on purpose: this is a shadow session."
                  : (detail.candidates ?? []).length
                    ? "Nothing: no memory was relevant, new to the session and within the budget."
                    : "Nothing: no memory came close to this prompt."
                }
                candidates=${detail.candidates ?? []}
                namespace=${one.namespace}
              />
              <div class="row-line">
                <${Badge}>${plural(one.tokens, "token")}<//>
                <${Badge}>${ms(one.latency_us)}<//>
                <${Badge}>${nameOf(one.namespace)}<//>
                ${detail.late ? html`<${Badge} tone="bad">late: ${detail.late}<//>` : null}
                ${detail.shadow ? html`<${Badge} tone="warn">shadow session<//>` : null}
                ${detail.explicit ? html`<${Badge}>asks for memories<//>` : null}
                ${detail.topic ? html`<${Badge}>new topic<//>` : null}
              </div>
              <details>
                <summary>Where the time went, and other details</summary>
                <div class="grid">
                  <${Parts}
                    parts=${Object.fromEntries(
                      Object.entries(detail.stages_us ?? {}).map(([name, us]) => [
                        `${name} (ms)`,
                        us / 1000,
                      ]),
                    )}
                  />
                  <dl class="facts small">
                    ${Object.entries(detail.left_out ?? {}).map(([name, why]) => html`
                      <dt>${name}</dt>
                      <dd>${String(why)}</dd>
                    `)}
                    <dt>Receipt</dt>
                    <dd class="mono">${one.receipt_id}</dd>
                    <dt>Session</dt>
                    <dd class="mono">${one.session_id ?? "none"}</dd>
                    <dt>Time</dt>
                    <dd>${when(one.created_at)}</dd>
                  </dl>
                </div>
              </details>
            </div>
          `;
        }}
      <//>
    </section>
  `;
}

// A reason names another memory by its id, which tells a person nothing.
const inWords = (why) =>
  why
    .replace(/^disputed by mr_\w+$/, "disputed by a newer belief")
    .replace(/^proposed$/, "proposed, and not confirmed by you yet");

// The reason without its figures, so that those left out for the same reason stand together.
const reason = (item) => inWords(item.why_not).replace(/: [\d.]+ of [\d.]+$/, "");

// Nothing is certain, so it is not said to be.
const likely = (chance) =>
  chance > 0.99 ? "over 99%" : chance < 0.01 ? "under 1%" : `${Math.round(100 * chance)}%`;

// What was said, or would be, and then what was left out, by reason.
function Outcome({ heading, text, nothing, candidates, namespace }) {
  const said = candidates.filter((item) => item.injected);
  const rest = candidates.filter((item) => !item.injected);
  const reasons = Map.groupBy(rest, (item) => (item.why_not ? reason(item) : "not chosen"));
  return html`
    <div class="grid">
      <div>
        <h3>${heading}</h3>
        ${text ? html`<pre class="quote">${text}</pre>` : html`<p class="soft">${nothing}</p>`}
      </div>
      ${said.length ? html`
        <div>
          <h3>${plural(said.length, "memory", "memories")} in it</h3>
          ${said.map((item) => html`
            <${Candidate} key=${item.record_id} item=${item} namespace=${namespace} />
          `)}
        </div>
      ` : null}
      ${rest.length ? html`
        <div>
          <h3>Left out</h3>
          ${[...reasons].map(([words, items]) => html`
            <details key=${words} class="reason">
              <summary>
                ${capital(words)} <span class="faint">(${items.length})</span>
              </summary>
              ${items.map((item) => html`
                <${Candidate} key=${item.record_id} item=${item} namespace=${namespace} />
              `)}
            </details>
          `)}
        </div>
      ` : null}
    </div>
  `;
}

const capital = (words) => words.charAt(0).toUpperCase() + words.slice(1);

function Candidate({ item, namespace }) {
  const [judged, set] = useState(null);
  const judge = (verdict) =>
    attempt(async () => {
      await daemon.feedback(
        { record_id: item.record_id, namespace: item.namespace ?? namespace },
        verdict,
      );
      set(verdict);
      toast(
        {
          useful: "Noted: it will rank higher.",
          wrong: "Noted: it will rank lower.",
          never: "It will not be injected again.",
        }[verdict],
      );
    });
  const isRecord = String(item.record_id ?? "").startsWith("mr_");
  return html`
    <div class="turn">
      <div class="row-line">
        <span class="title wrap">
          ${isRecord ? html`
            <a href=${href("memories", item.record_id)}>${item.title}</a>
          ` : item.title}
        </span>
        ${item.freshness && item.freshness !== "unknown" ? html`
          <${Badge} tone=${item.freshness === "fresh" ? "good" : "warn"}>${item.freshness}<//>
        ` : null}
        ${item.chance != null ? html`
          <span class="small faint">${likely(item.chance)} likely to be useful</span>
        ` : null}
      </div>
      <details>
        <summary class="small">How it scored</summary>
        ${item.why_not
          ? html`<p class="small soft">Left out: ${inWords(item.why_not)}.</p>`
          : null}
        <${Parts} parts=${{ ...item.parts, total: item.score ?? 0 }} />
      </details>
      ${isRecord ? html`
        <div class="acts" role="group" aria-label=${`Rate ${item.title}`}>
          ${[
            ["useful", "Useful"],
            ["wrong", "Wrong"],
            ["never", "Never again"],
          ].map(([verdict, label]) => html`
            <button
              key=${verdict}
              aria-pressed=${judged === verdict}
              onClick=${() => judge(verdict)}>
              ${label}
            </button>
          `)}
        </div>
      ` : null}
    </div>
  `;
}

// Tries a question: what an agent would be told, and what would be left out. Nothing is written.
// An agent works in one project, so one is asked about.
function Bench() {
  const { params } = route.value;
  const asked = params.q ?? "";
  const project = params.project ?? lastUsed();
  const state = useData(
    () =>
      asked && project
        ? daemon.context({ query: asked, project })
        : Promise.resolve({ candidates: [] }),
    JSON.stringify([asked, project]),
  );
  return html`
    <section class="card" aria-label="Try a question">
      <header><h2>Try a question</h2></header>
      <div class="body grid">
        <label class="field">
          A question that you could ask an agent
          <input
            type="search"
            value=${asked}
            onInput=${(event) => refine({ q: event.target.value })}
            placeholder="How do we deploy the billing service?"
          />
        </label>
        ${asked ? html`
          <${Shown} state=${state}>
            ${(answer) => html`
              <${Outcome}
                heading="What an agent would be told"
                text=${answer.context}
                nothing="Nothing: no memory is likely enough to be of use."
                candidates=${answer.candidates}
              />
            `}
          <//>
          <${Scores} asked=${asked} project=${project} />
        ` : html`
          <${Empty} title="Nothing asked yet">
            <p>You will see the text that an agent would get, and what would be left out.</p>
          <//>
        `}
      </div>
    </section>
  `;
}

// How search alone scores the same question, and what a floor would let through.
function Scores({ asked, project }) {
  const [open, set] = useState(false);
  return html`
    <details onToggle=${(event) => set(event.target.open)}>
      <summary>Scores of the search, and its floor</summary>
      ${open ? html`<${Scored} asked=${asked} project=${project} />` : null}
    </details>
  `;
}

function Scored({ asked, project }) {
  const [floor, setFloor] = useState(null);
  const state = useData(() => daemon.explain(asked, project), JSON.stringify([asked, project]));
  return html`
    <${Shown} state=${state}>
      ${(answer) => {
        const cut = floor ?? answer.default_threshold;
        return html`
          <div class="grid">
            <label class="field">
              Relevance floor: ${Number(cut).toFixed(2)} (this question scores${" "}
              ${answer.confidence.toFixed(2)})
              <input
                type="range"
                min="0"
                max="1"
                step="0.01"
                value=${cut}
                onInput=${(event) => setFloor(Number(event.target.value))}
              />
            </label>
            <p class=${`notice ${answer.confidence >= cut ? "good" : ""}`}>
              ${answer.confidence >= cut
                ? "The question passes the floor."
                : "The question scores below the floor."}
            </p>
            ${answer.items.map((item) => html`
              <${Candidate}
                key=${item.record.record_id}
                item=${{
                  ...item,
                  parts: item.weighed,
                  record_id: item.record.record_id,
                  title: item.record.title,
                  freshness: item.record.freshness,
                }}
                namespace=${item.record.namespace}
              />
            `)}
          </div>
        `;
      }}
    <//>
  `;
}
