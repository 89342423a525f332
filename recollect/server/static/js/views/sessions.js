// Sessions: summary, checkpoint and conversation of each, and the text to resume it with.
import * as daemon from "../daemon.js";
import { html, useState } from "../html.js";
import { isSummary } from "../kinds.js";
import { nameOf, ProjectFilter } from "../projects.js";
import { href, route } from "../route.js";
import { count, sessionState, short, when } from "../format.js";
import { Ago, Badge } from "../parts/pieces.js";
import { Empty, Section, Shown, useData, usePages } from "../parts/states.js";
import { toast } from "../parts/toast.js";

const TONE = { active: "good", completed: "", failed: "bad", idle: "" };

export function Sessions() {
  const { id, params } = route.value;
  return html`
    <div>
      <div class="head">
        <h1>Sessions</h1>
        <p class="lead">Every conversation with an agent, and where it stopped.</p>
      </div>
      <div class="filters"><${ProjectFilter} /></div>
      <div class=${id ? "grid two" : "grid"}>
        ${id ? html`
          <${Section} key=${id}><${One} id=${id} params=${params} /><//>
        ` : null}
        <${Section}><${List} id=${id} params=${params} /><//>
      </div>
    </div>
  `;
}

function List({ id, params }) {
  const state = usePages(
    (before) => daemon.sessions({ project: params.project, limit: 50, before }),
    params.project ?? "",
    ["session", "prompt"],
  );
  const summed = useData(
    () => daemon.memories({ project: params.project, kind: "summary", limit: 200 }),
    params.project ?? "",
    ["summary"],
  );
  const titles = new Map((summed.data?.items ?? []).map((one) => [one.session_id, one.title]));
  return html`
    <section class="card" aria-label="Sessions">
      <header><h2>Newest first</h2></header>
      <${Shown}
        state=${state}
        empty=${{
          when: (data) => !data.items.length,
          show: html`
            <${Empty} title="No sessions yet">
              <p>Connect an agent: <code>recollect install</code></p>
            <//>
          `,
        }}>
        ${() => html`
          <div>
            <ul class="items">
              ${state.items.map((one) => html`
                <li key=${one.namespace + one.session_id}>
                  <a
                    class="item"
                    aria-current=${one.session_id === id ? "true" : null}
                    href=${href("sessions", one.session_id, {
                      ...params,
                      namespace: one.namespace,
                    })}>
                    <span class="top">
                      <${Badge} tone=${TONE[sessionState(one)]}>${sessionState(one)}<//>
                      <span class="title clip">
                        ${short(titles.get(one.session_id) ?? one.session_id, 120)}
                      </span>
                      <${Ago} at=${one.last_event_at} />
                    </span>
                    <span class="row-line small faint">
                      <span>${one.surface}</span>
                      <span>${nameOf(one.namespace)}</span>
                    </span>
                  </a>
                </li>
              `)}
            </ul>
            ${state.more ? html`
              <div class="state"><button onClick=${state.more}>Show more</button></div>
            ` : null}
          </div>
        `}
      <//>
    </section>
  `;
}

function One({ id, params }) {
  const state = useData(() => daemon.session(id), id, ["prompt", "checkpoint", "summary"]);
  return html`
    <section class="card panel" aria-label="One session">
      <${Shown} state=${state}>
        ${(data) => {
          const { session, checkpoint } = data;
          const summary = data.memories.find(isSummary);
          return html`
            <header>
              <${Badge} tone=${TONE[sessionState(session)]}>${sessionState(session)}<//>
              <h2>${session.surface}</h2>
              <span class="soft small">${nameOf(session.namespace)}</span>
              <span class="push">
                <a
                  class="button"
                  href=${href("sessions", "", { project: params.project })}
                  aria-label="Close this session">
                  Close
                </a>
              </span>
            </header>
            <div class="body grid">
              <dl class="facts small">
                <dt>Began</dt>
                <dd>${when(session.started_at)}</dd>
                <dt>${session.ended_at ? "Ended" : "Last event"}</dt>
                <dd>${when(session.ended_at ?? session.last_event_at)}</dd>
                <dt>Events</dt>
                <dd>
                  ${Object.entries(data.events)
                    .map(([kind, number]) => `${count(number)} ${kind.replace("_", " ")}`)
                    .join(", ")}
                </dd>
                <dt>Id</dt>
                <dd class="mono">${session.session_id}</dd>
              </dl>
              ${summary ? html`
                <div>
                  <h3>Summary</h3>
                  <p class="wrap">${summary.summary || summary.title}</p>
                  ${summary.facts.length ? html`
                    <ul>
                      ${summary.facts.map((fact) => html`
                        <li class="wrap" key=${fact}>${fact}</li>
                      `)}
                    </ul>
                  ` : null}
                </div>
              ` : null}
              ${checkpoint ? html`
                <div>
                  <h3>Where it stopped</h3>
                  <dl class="facts">
                    <dt>Task</dt>
                    <dd class="wrap">${checkpoint.task}</dd>
                    ${checkpoint.progress ? html`
                      <dt>Progress</dt>
                      <dd class="wrap">${checkpoint.progress}</dd>
                    ` : null}
                    ${checkpoint.next_steps?.length ? html`
                      <dt>Next</dt>
                      <dd>
                        <ul>
                          ${checkpoint.next_steps.map((step) => html`
                            <li key=${step}>${step}</li>
                          `)}
                        </ul>
                      </dd>
                    ` : null}
                    ${checkpoint.questions?.length ? html`
                      <dt>Open</dt>
                      <dd>
                        <ul>
                          ${checkpoint.questions.map((step) => html`
                            <li key=${step}>${step}</li>
                          `)}
                        </ul>
                      </dd>
                    ` : null}
                    ${checkpoint.files?.length ? html`
                      <dt>Files</dt>
                      <dd>
                        ${checkpoint.files.map((file) => html`
                          <a
                            class="mono"
                            key=${file}
                            href=${href("memories", "", { file })}>
                            ${file}
                          </a>${" "}
                        `)}
                      </dd>
                    ` : null}
                  </dl>
                </div>
              ` : null}
              <${Resume} id=${id} />
              <p class="small">
                <a href=${href("memories", "", { session_id: id })}>
                  Memories of this session
                </a>${" "}
                · <a href=${href("why", "", { session_id: id })}>Its receipts</a>
              </p>
              <div>
                <h3>Conversation</h3>
                <${Section}><${Conversation} id=${id} /><//>
              </div>
            </div>
          `;
        }}
      <//>
    </section>
  `;
}

function Resume({ id }) {
  const [text, set] = useState(null);
  const load = async () => {
    try {
      const answer = await daemon.resume(id);
      set(answer.text);
    } catch (error) {
      set(error.message);
    }
  };
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => toast("Copied."),
      () => toast("The browser did not allow copying: select the text and copy it yourself."),
    );
  return text == null ? html`
    <div><button onClick=${load}>Show the text to resume with</button></div>
  ` : html`
    <div>
      <pre class="quote" tabindex="0">${text || "There is nothing to resume."}</pre>
      ${text ? html`<button onClick=${copy}>Copy</button>` : null}
    </div>
  `;
}

function Conversation({ id }) {
  const state = usePages((after) => daemon.conversation(id, after), id, ["prompt", "event"]);
  return html`
    <${Shown}
      state=${state}
      empty=${{
        when: (data) => !data.items.length,
        show: html`<p class="soft">No messages.</p>`,
      }}>
      ${() => html`
        <div>
          ${state.items.map((line, i) => html`<${Message} key=${i} line=${line} />`)}
          ${state.more ? html`<button onClick=${state.more}>Show more</button>` : null}
        </div>
      `}
    <//>
  `;
}

const TONES = { user: "accent", assistant: "info" };

const Message = ({ line }) => html`
  <div class="turn">
    <div class="row-line">
      <${Badge} tone=${TONES[line.role] ?? ""}>
        ${line.role === "assistant" ? "agent" : line.role}
      <//>
      ${line.tool ? html`<code>${line.tool}</code>` : null}
      ${line.failed ? html`<${Badge} tone="bad">failed<//>` : null}
      <${Ago} at=${line.at} />
    </div>
    ${line.text.length > 700 ? html`
      <details>
        <summary class="wrap">${short(line.text, 300)}</summary>
        <div class="wrap">${line.text}</div>
      </details>
    ` : html`<div class="wrap">${line.text}</div>`}
    ${line.files.length ? html`
      <div class="small">
        ${line.files.map((file) => html`
          <a class="mono" key=${file} href=${href("memories", "", { file })}>
            ${file}
          </a>${" "}
        `)}
      </div>
    ` : null}
  </div>
`;
