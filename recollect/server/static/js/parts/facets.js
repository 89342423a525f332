// What memories can be narrowed by, each choice with how many it would show. Types are shown for
// the kind that is chosen: most kinds have names of their own for what they are about.
import * as daemon from "../daemon.js";
import { html, useState } from "../html.js";
import { pluralOf } from "../kinds.js";
import { ProjectFilter } from "../projects.js";
import { refine } from "../route.js";
import { count, FRESH } from "../format.js";
import { useData } from "./states.js";

const WIDE = matchMedia("(min-width: 1021px)");
const SPANS = [
  ["1", "Today"],
  ["7", "This week"],
  ["30", "This month"],
  ["90", "Three months"],
];
const DATES = [
  ["since", "From"],
  ["until", "To"],
  ["as_of", "As it was on"],
];
const RANGE = { since: "", until: "" }; // which a number of days replaces
const USED = { true: "Told to an agent", false: "Never used" };
const MOST_CONCEPTS = 20;

export function Facets({ params, counts, chosen }) {
  const [open, set] = useState(WIDE.matches);
  const group = (title, name, found, label = (one) => one) => html`
    <${Facet} title=${title} name=${name} counts=${found} label=${label} value=${params[name]} />
  `;
  const many = (found) => Object.keys(found ?? {}).length;
  const typed =
    params.type || ((params.kind || many(counts?.kinds) === 1) && many(counts?.types) > 1);
  return html`
    <details class="facets" open=${open} onToggle=${(event) => set(event.target.open)}>
      <summary>Filters${chosen ? ` (${chosen})` : ""}</summary>
      <div class="facet">
        <h2>Project</h2>
        <${ProjectFilter} counts=${counts?.projects} />
      </div>
      ${group("Kind", "kind", counts?.kinds, pluralOf)}
      ${typed ? group("Type", "type", counts?.types, pluralOf) : null}
      ${group("Use", "used", counts?.used, (one) => USED[one])}
      ${group("Files", "freshness", known(counts?.freshness), (one) => FRESH[one][1])}
      ${group("Branch", "branch", counts?.branches)}
      <div class="facet">
        <h2>Happened</h2>
        <ul>
          ${SPANS.map(([days, words]) => html`
            <${Choice} key=${days} name="days" value=${days} words=${words} params=${params} />
          `)}
        </ul>
        ${DATES.map(([name, words]) => html`
          <label class="field small" key=${name}>
            ${words}
            <input
              type="date"
              value=${params[name]?.slice(0, 10) ?? ""}
              onChange=${(event) =>
                refine({ days: name === "as_of" ? params.days : "", [name]: event.target.value })}
            />
          </label>
        `)}
      </div>
      <div class="facet">
        <h2>File</h2>
        <input
          type="search"
          aria-label="File"
          placeholder="src/retry.py"
          value=${params.file ?? ""}
          onChange=${(event) => refine({ file: event.target.value.trim() })}
        />
      </div>
      <${Concepts} params=${params} />
    </details>
  `;
}

// Of most memories it is not known how they stand to their files.
const known = (freshness = {}) =>
  Object.fromEntries(Object.entries(freshness).filter(([name]) => FRESH[name]));

function Facet({ title, name, counts, label, value }) {
  const found = Object.entries(counts ?? {});
  if (value && !(value in (counts ?? {}))) found.push([value, 0]);
  if (!found.length) return null;
  return html`
    <div class="facet" role="group" aria-label=${title}>
      <h2>${title}</h2>
      <ul>
        ${found.map(([one, number]) => html`
          <${Choice}
            key=${one}
            name=${name}
            value=${one}
            words=${label(one)}
            number=${number}
            params=${{ [name]: value }}
          />
        `)}
      </ul>
    </div>
  `;
}

function Choice({ name, value, words, number, params }) {
  const on = params[name] === value;
  return html`
    <li>
      <button
        class="choice"
        aria-pressed=${on}
        onClick=${() =>
          refine({ ...(name === "days" ? RANGE : {}), [name]: on ? "" : value })}>
        <span class="clip" title=${words}>${words}</span>
        ${number == null ? null : html`<span class="num">${count(number)}</span>`}
      </button>
    </li>
  `;
}

// Read when it is opened: concepts are counted over all memories.
function Concepts({ params }) {
  const [open, set] = useState(Boolean(params.concept));
  return html`
    <details class="facet" open=${open} onToggle=${(event) => set(event.target.open)}>
      <summary><h2>Concepts</h2></summary>
      ${open ? html`<${ConceptList} params=${params} />` : null}
    </details>
  `;
}

function ConceptList({ params }) {
  const state = useData(() => daemon.concepts({ project: params.project }), params.project ?? "");
  const found = Object.entries(state.data?.concepts ?? {}).slice(0, MOST_CONCEPTS);
  return html`
    <${Facet}
      title="Concept"
      name="concept"
      counts=${Object.fromEntries(found)}
      label=${(one) => one}
      value=${params.concept}
    />
  `;
}
