// Graph: projects, entities, concepts and memories, and how they are related. The same data always
// gives the same picture.
import * as daemon from "../daemon.js";
import { html, useMemo } from "../html.js";
import { nameOf, ProjectFilter } from "../projects.js";
import { go, href, refine, route } from "../route.js";
import { plural } from "../format.js";
import { COLOURS, layout, Picture } from "../parts/canvas.js";
import { Badge, MemoryLine } from "../parts/pieces.js";
import { Empty, Section, Shown, useData } from "../parts/states.js";

const NAMES = {
  project: "Projects",
  entity: "Entities",
  memory: "Memories",
  concept: "Concepts",
};

export function Graph() {
  const { id, params } = route.value;
  const state = useData(
    () =>
      daemon.graph({
        project: params.project,
        limit: params.limit ?? 300,
        focus: params.near ? id : undefined,
      }),
    JSON.stringify([params.project, params.limit, params.near && id]),
    ["reset"],
  );
  return html`
    <div>
      <div class="head">
        <h1>Graph</h1>
        <p class="lead">
          Projects, their entities and concepts, and the memories that mention them.
        </p>
      </div>
      <div class="filters">
        <${ProjectFilter} />
        <select
          aria-label="How many"
          value=${String(params.limit ?? 300)}
          onChange=${(event) => refine({ limit: event.target.value })}>
          <option value="100">100 nodes</option>
          <option value="300">300 nodes</option>
          <option value="1000">1,000 nodes</option>
        </select>
        ${id ? html`
          <button
            aria-pressed=${!!params.near}
            onClick=${() => refine({ near: params.near ? "" : "1" })}>
            Only its neighbours
          </button>
          <button class="plain" onClick=${() => go("graph", "", { project: params.project })}>
            Clear focus
          </button>
        ` : null}
        <span class="legend">
          ${Object.entries(NAMES).map(([kind, name]) => html`
            <span key=${kind}>
              <i style=${{ background: `var(${COLOURS[kind]})` }}></i>
              ${name}
            </span>
          `)}
        </span>
      </div>
      <div class=${id ? "grid two" : "grid"}>
        <${Section}>
          <section class="card">
            <${Shown}
              state=${state}
              empty=${{
                when: (data) => !data.nodes.length,
                show: html`
                  <${Empty} title="Nothing to draw yet">
                    <p>Entities and memories appear here as your agents work.</p>
                  <//>
                `,
              }}>
              ${(data) => html`<${Drawn} data=${data} id=${id} params=${params} />`}
            <//>
          </section>
        <//>
        ${id ? html`
          <${Section} key=${id}><${Focus} id=${id} data=${state.data} /><//>
        ` : null}
      </div>
    </div>
  `;
}

function Drawn({ data, id, params }) {
  const placed = useMemo(() => layout(data.nodes, data.links), [data]);
  return html`
    <div class="graph">
      <${Picture}
        graph=${placed}
        focus=${id}
        choose=${(node) =>
          go("graph", node?.id ?? "", { ...params, near: node ? params.near : "" })
        }
        label=${
          `A graph of ${plural(placed.nodes.length, "node")} and ` +
          `${plural(placed.links.length, "link")}; the list below has the same content. ` +
          "Arrow keys move, plus and minus zoom, 0 fits."
        }
      />
    </div>
    <details class="body">
      <summary class="small">
        As a list: ${plural(placed.nodes.length, "node")}
        ${data.more ? ", the best connected ones" : ""}
      </summary>
      <ul class="items">
        ${[...placed.nodes]
          .sort((a, b) => b.degree - a.degree)
          .slice(0, 200)
          .map((node) => html`
            <li key=${node.id}>
              <a class="item" href=${href("graph", node.id, params)}>
                <span class="top">
                  <${Badge}>${node.type ?? node.kind}<//>
                  <span class="title clip">${node.label}</span>
                  <span class="faint small">${plural(node.degree, "link")}</span>
                </span>
              </a>
            </li>
          `)}
      </ul>
    </details>
  `;
}

function Focus({ id, data }) {
  const node = data?.nodes.find((one) => one.id === id);
  if (id.startsWith("mr_"))
    return html`
      <aside class="card panel">
        <header><h2>Memory</h2></header>
        <div class="body">
          <p class="wrap">${node?.label}</p>
          <a class="button" href=${href("memories", id)}>Open this memory</a>
        </div>
      </aside>
    `;
  if (node && node.kind !== "entity")
    return html`
      <aside class="card panel">
        <header>
          <${Badge}>${node.kind}<//>
          <h2>${node.label}</h2>
        </header>
        <div class="body">
          <a
            class="button"
            href=${
              node.kind === "concept"
                ? href("memories", "", { concept: node.label })
                : href("memories", "", { project: node.project_id ?? node.label })
            }>
            Show its memories
          </a>
        </div>
      </aside>
    `;
  return html`<${Entity} id=${id} />`;
}

function Entity({ id }) {
  const state = useData(() => daemon.entity(id), id);
  return html`
    <aside class="card panel" aria-label="One entity">
      <${Shown} state=${state}>
        ${(data) => {
          const { entity, facts, relations, memories } = data;
          return html`
            <header>
              <${Badge} tone="accent">${entity.type}<//>
              <h2 class="wrap">${entity.name}</h2>
            </header>
            <div class="body grid">
              ${entity.description ? html`<p class="wrap">${entity.description}</p>` : null}
              <p class="small faint">
                ${nameOf(entity.namespace)} · mentioned ${plural(entity.mentions, "time")}
                ${entity.aliases?.length ? ` · also ${entity.aliases.join(", ")}` : ""}
              </p>
              ${facts.length ? html`
                <div>
                  <h3>Facts</h3>
                  <ul>
                    ${facts.map((fact) => html`
                      <li key=${fact.fact_id} class="wrap">
                        ${fact.subject} ${fact.predicate.replaceAll("_", " ")}${" "}
                        <b>${fact.object}</b>${" "}
                        <span class="faint small">
                          ${Math.round(fact.confidence * 100)} %, ${fact.source_type}
                          ${fact.valid_until ? ", no longer true" : ""}
                        </span>
                      </li>
                    `)}
                  </ul>
                </div>
              ` : null}
              ${relations.length ? html`
                <div>
                  <h3>Relationships</h3>
                  <ul>
                    ${grouped(relations, entity).map(({ type, outward, ends }) => html`
                      <li key=${`${type} ${outward}`} class="wrap">
                        ${outward ? html`<span class="soft">${type}</span>${" "}` : null}
                        ${ends.map(([id, name], i) => html`
                          ${i ? ", " : ""}<a href=${href("graph", id)}>${name}</a>
                        `)}
                        ${outward ? null : html`${" "}<span class="soft">${type} this</span>`}
                      </li>
                    `)}
                  </ul>
                </div>
              ` : null}
              ${memories.length ? html`
                <div>
                  <h3>Memories</h3>
                  <ul class="items">
                    ${memories.slice(0, 12).map((record) => html`
                      <li key=${record.record_id}><${MemoryLine} record=${record} /></li>
                    `)}
                  </ul>
                </div>
              ` : null}
              <a class="button" href=${href("memories", "", { q: entity.name })}>
                Search memories for it
              </a>
            </div>
          `;
        }}
      <//>
    </aside>
  `;
}

// Relationships of one type and direction together, each with its other ends.
function grouped(relations, of) {
  const found = new Map();
  for (const { source, target, relationship } of relations) {
    const isSource = relationship.source_id === of.entity_id;
    const outward = isSource || relationship.type === "edited_with"; // which is both ways
    const type = relationship.type.replaceAll("_", " ");
    const key = `${type} ${outward}`;
    if (!found.has(key)) found.set(key, { type, outward, ends: [] });
    const end = isSource
      ? [relationship.target_id, target]
      : [relationship.source_id, source];
    found.get(key).ends.push(end);
  }
  return [...found.values()];
}
