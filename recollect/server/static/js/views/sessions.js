// Sessions: what each was about, turn by turn, where it stopped, and the text to resume it.
import * as daemon from "../daemon.js";
import { html, useState } from "../html.js";
import { nameOf, ProjectFilter } from "../projects.js";
import { href, route } from "../route.js";
import { ago, count, plural, short, when } from "../words.js";
import { Ago, Badge, MemoryLine } from "../parts/pieces.js";
import { Empty, Section, Shown, useData } from "../parts/states.js";
import { say } from "../parts/toast.js";

const TONE = { active: "good", completed: "", failed: "bad" };

export function Sessions() {
  const { id, params } = route.value;
  return html`<div>
    <div class="head"><h1>Sessions</h1><p class="lead">Every conversation with an agent, and where it stopped.</p></div>
    <div class="filters"><${ProjectFilter} /></div>
    <div class=${id ? "grid two" : "grid"}>
      ${id ? html`<${Section} key=${id}><${One} id=${id} params=${params} /><//>` : null}
      <${Section}><${List} id=${id} params=${params} /><//>
    </div>
  </div>`;
}

function List({ id, params }) {
  const [pages, setPages] = useState([]);
  const state = useData(() => daemon.sessions({ project: params.project, limit: 50 }).then((page) => (setPages([]), page)), params.project ?? "", ["session", "prompt"]);
  const last = pages.at(-1) ?? state.data;
  const more = async () => setPages([...pages, await daemon.sessions({ project: params.project, limit: 50, before: last.next })]);
  return html`<section class="card" aria-label="Sessions"><header><h2>Newest first</h2></header>
    <${Shown} state=${state} empty=${{ when: (data) => !data.items.length, show: html`<${Empty} title="No sessions yet"><p>Connect an agent: <code>recollect install</code></p><//>` }}>${(data) => html`<div><ul class="items">${[data, ...pages].flatMap((page) => page.items).map((one) => html`<li key=${one.namespace + one.session_id}><a class="item" aria-current=${one.session_id === id ? "true" : null} href=${href("sessions", one.session_id, { ...params, namespace: one.namespace })}>
      <span class="top"><${Badge} tone=${TONE[one.status]}>${one.status}<//><span class="title clip">${short(one.title ?? one.first_prompt ?? one.session_id, 120)}</span><${Ago} at=${one.last_event_at} /></span>
      <span class="row-line small faint"><span>${one.surface}</span><span>${nameOf(one.namespace)}</span>${one.prompts != null ? html`<span>${plural(one.prompts, "prompt")}</span>` : null}</span></a></li>`)}</ul>
      ${last?.next ? html`<div class="state"><button onClick=${more}>Show more</button></div>` : null}</div>`}<//>
  </section>`;
}

function One({ id, params }) {
  const state = useData(() => daemon.session(id, params.namespace), id, ["prompt", "checkpoint", "summary"]);
  return html`<section class="card" aria-label="One session"><${Shown} state=${state}>${(data) => {
    const session = data.session ?? data;
    const checkpoint = data.checkpoint;
    return html`<header><${Badge} tone=${TONE[session.status]}>${session.status}<//><h2>${session.surface}</h2><span class="soft small">${nameOf(session.namespace)}</span><span class="push"><a class="button" href=${href("sessions", "", { project: params.project })} aria-label="Close this session">Close</a></span></header>
    <div class="body grid">
      <dl class="facts small"><dt>Began</dt><dd>${when(session.started_at)}</dd><dt>${session.ended_at ? "Ended" : "Last heard"}</dt><dd>${when(session.ended_at ?? session.last_event_at)}</dd><dt>Id</dt><dd class="mono">${session.session_id}</dd></dl>
      ${data.summary ? html`<div><h3>Summary</h3><p class="wrap">${data.summary.summary || data.summary.title}</p>${data.summary.facts?.length ? html`<ul>${data.summary.facts.map((fact) => html`<li class="wrap" key=${fact}>${fact}</li>`)}</ul>` : null}</div>` : null}
      ${checkpoint ? html`<div><h3>Where it stopped</h3><dl class="facts"><dt>Task</dt><dd class="wrap">${checkpoint.task}</dd>${checkpoint.progress ? html`<dt>Progress</dt><dd class="wrap">${checkpoint.progress}</dd>` : null}${checkpoint.next_steps?.length ? html`<dt>Next</dt><dd><ul>${checkpoint.next_steps.map((step) => html`<li key=${step}>${step}</li>`)}</ul></dd>` : null}${checkpoint.questions?.length ? html`<dt>Open</dt><dd><ul>${checkpoint.questions.map((step) => html`<li key=${step}>${step}</li>`)}</ul></dd>` : null}${checkpoint.files?.length ? html`<dt>Files</dt><dd>${checkpoint.files.map((file) => html`<a class="mono" key=${file} href=${href("memories", "", { file })}>${file}</a> `)}</dd>` : null}</dl></div>` : null}
      <${Resume} id=${id} namespace=${session.namespace} />
      <p class="small"><a href=${href("memories", "", { session_id: id })}>Memories of this session</a> · <a href=${href("why", "", { session_id: id })}>What it was given</a></p>
      <div><h3>Conversation</h3><${Section}><${Conversation} id=${id} namespace=${session.namespace} /><//></div>
    </div>`;
  }}<//></section>`;
}

function Resume({ id, namespace }) {
  const [text, set] = useState(null);
  const load = async () => {
    try {
      const answer = await daemon.resume(id, namespace);
      set(answer.text ?? answer.context ?? "");
    } catch (error) {
      set(error.message);
    }
  };
  const copy = () => navigator.clipboard.writeText(text).then(() => say("Copied."), () => say("The browser did not allow copying: mark the text and copy it."));
  return text == null
    ? html`<div><button onClick=${load}>Text to resume it with</button></div>`
    : html`<div><pre class="quote" tabindex="0">${text || "There is nothing to resume."}</pre>${text ? html`<button onClick=${copy}>Copy</button>` : null}</div>`;
}

function Conversation({ id, namespace }) {
  const state = useData(() => daemon.conversation(id, namespace), id, ["prompt"]);
  return html`<${Shown} state=${state} empty=${{ when: (data) => !(data.turns ?? data.items).length, show: html`<p class="soft">Nothing was said.</p>` }}>${(data) => html`<div>${data.left_out ? html`<p class="small soft">${plural(data.left_out, "earlier message")} not shown.</p>` : null}${(data.turns ?? data.items).map((turn, i) => html`<div class="turn" key=${i}><div class="row-line"><${Badge} tone=${turn.role === "user" ? "accent" : turn.role === "tool" ? "" : "info"}>${turn.role === "assistant" ? "agent" : turn.role}<//>${turn.tool ? html`<code>${turn.tool}</code>` : null}${turn.failed ? html`<${Badge} tone="bad">failed<//>` : null}<${Ago} at=${turn.at ?? turn.valid_time} /></div>${(turn.text ?? turn.content ?? "").length > 700 ? html`<details><summary class="wrap">${short(turn.text ?? turn.content, 300)}</summary><div class="wrap">${turn.text ?? turn.content}</div></details>` : html`<div class="wrap">${turn.text ?? turn.content}</div>`}</div>`)}</div>`}<//>`;
}
