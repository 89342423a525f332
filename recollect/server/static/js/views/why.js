// Why: the receipt of every brief, and a form that shows how each memory scores for a question.
import * as daemon from "../daemon.js";
import { html, useState } from "../html.js";
import { nameOf, ProjectFilter } from "../projects.js";
import { href, refine, route } from "../route.js";
import { ms, plural, TRIGGER, when } from "../format.js";
import { Ago, Badge, Parts, ReceiptLine, Segments } from "../parts/pieces.js";
import { Empty, Section, Shown, useData } from "../parts/states.js";
import { toast, toastError } from "../parts/toast.js";

export function Why() {
  const { id, params } = route.value;
  return html`
    <div>
      <div class="head">
        <h1>Why</h1>
        <p class="lead">What was added to each prompt and why, and what was left out.</p>
      </div>
      <div class="filters">
        <${ProjectFilter} />
        <${Segments}
          label="Show"
          options=${[
            ["", "Receipts"],
            ["1", "Try a question"],
          ]}
          value=${params.try ?? ""}
          choose=${(name) => refine({ try: name })}
        />
      </div>
      ${params.try ? html`
        <${Section}><${Bench} /><//>
      ` : html`
        <div class=${id ? "grid two" : "grid"}>
          ${id ? html`
            <${Section} key=${id}><${One} id=${id} /><//>
          ` : null}
          <${Section}><${List} id=${id} params=${params} /><//>
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
    ["receipt", "prompt"],
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
          const candidates = detail.candidates ?? [];
          const given = candidates.filter((item) => item.injected),
            rest = candidates.filter((item) => !item.injected);
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
              <div class="row-line">
                <${Badge} tone=${given.length ? "info" : ""}>
                  ${given.length
                    ? `${plural(given.length, "memory", "memories")} injected`
                    : "nothing injected"}
                <//>
                <${Badge}>${plural(one.tokens, "token")}<//>
                <${Badge}>${ms(one.latency_us)}<//>
                <${Badge}>${nameOf(one.namespace)}<//>
                ${detail.late ? html`<${Badge} tone="bad">late: ${detail.late}<//>` : null}
                ${detail.shadow ? html`<${Badge} tone="warn">shadow session<//>` : null}
                ${detail.explicit ? html`<${Badge}>asks for memories<//>` : null}
                ${detail.topic ? html`<${Badge}>new topic<//>` : null}
              </div>
              ${detail.text || detail.shadow_text ? html`
                <details>
                  <summary>
                    The text that the agent ${detail.text ? "got" : "would have got"}
                  </summary>
                  <div class="quote wrap">${detail.text || detail.shadow_text}</div>
                </details>
              ` : null}
              <div>
                <h3>Injected</h3>
                ${given.length ? (
                  given.map((item) => html`
                    <${Candidate} key=${item.record_id} item=${item} namespace=${one.namespace} />
                  `)
                ) : html`
                  <p class="soft">
                    ${detail.shadow
                      ? "Nothing, on purpose: this is a shadow session. " +
                        `It would have been ${detail.shadow_tokens} tokens.`
                      : candidates.length
                      ? "No memory was relevant, new to the session and within the budget."
                      : "No memory came close to this prompt."}
                  </p>
                `}
              </div>
              ${rest.length ? html`
                <details open=${!given.length}>
                  <summary>
                    Left out: ${plural(rest.length, "memory", "memories")}, with reasons
                  </summary>
                  ${rest.map((item) => html`
                    <${Candidate} key=${item.record_id} item=${item} namespace=${one.namespace} />
                  `)}
                </details>
              ` : null}
              ${Object.keys(detail.stages_us ?? {}).length ? html`
                <div>
                  <h3>Where the time went</h3>
                  <${Parts}
                    parts=${Object.fromEntries(
                      Object.entries(detail.stages_us).map(([name, us]) => [
                        `${name} (ms)`,
                        us / 1000,
                      ]),
                    )}
                  />
                </div>
              ` : null}
              ${Object.keys(detail.left_out ?? {}).length ? html`
                <dl class="facts small">
                  ${Object.entries(detail.left_out).map(([name, why]) => html`
                    <dt>${name}</dt>
                    <dd>${String(why)}</dd>
                  `)}
                </dl>
              ` : null}
              <p class="small faint mono">
                ${one.receipt_id} · session ${one.session_id ?? "none"} · ${when(one.created_at)}
              </p>
            </div>
          `;
        }}
      <//>
    </section>
  `;
}

function Candidate({ item, namespace }) {
  const [judged, set] = useState(null);
  const judge = async (verdict) => {
    try {
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
    } catch (error) {
      toastError(error);
    }
  };
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
        <span class="num small faint">score ${(item.score ?? 0).toFixed(3)}</span>
      </div>
      ${item.why_not ? html`<p class="small soft">Left out: ${item.why_not}.</p>` : null}
      <details>
        <summary class="small">How it scored</summary>
        <${Parts} parts=${item.parts} />
      </details>
      ${isRecord ? html`
        <div class="row-line" role="group" aria-label=${`Rate ${item.title}`}>
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

// Tries a question: how every candidate scores, and what the floor would let through.
function Bench() {
  const { params } = route.value;
  const [floor, setFloor] = useState(null);
  const asked = params.q ?? "";
  const state = useData(
    () => (asked ? daemon.explain(asked, params.project) : Promise.resolve(null)),
    JSON.stringify([asked, params.project]),
  );
  const data = state.data;
  const cut = floor ?? data?.default_threshold ?? 0;
  return html`
    <section class="card">
      <header><h2>Try a question</h2></header>
      <div class="body grid">
        <label class="field">
          A question that an agent could ask
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
                    ? "Memories would be injected."
                    : "Nothing would be injected: the question scores below the floor."}
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
            `}
          <//>
        ` : html`
          <${Empty} title="Nothing asked yet">
            <p>
              You will see each candidate, what every signal adds to its score, and whether
              anything would be injected.
            </p>
          <//>
        `}
      </div>
    </section>
  `;
}
