// One entity: a file, command, package, person or whatever else was named, and what is around it.
import * as daemon from "../daemon.js";
import { html } from "../html.js";
import { nameOf } from "../projects.js";
import { href, route } from "../route.js";
import { plural, short, sure } from "../format.js";
import { SOURCE } from "../parts/belief.js";
import { Badge, MemoryLine } from "../parts/pieces.js";
import { Section, Shown, useData } from "../parts/states.js";

const SIZE = 560;
const RING = 200;
const MOST = 24;

export function Entity() {
  const { id } = route.value;
  const state = useData(() => daemon.entity(id), id);
  return html`
    <${Section}>
      <${Shown} state=${state}>
        ${(data) => html`<${One} ...${data} />`}
      <//>
    <//>
  `;
}

const One = ({ entity, facts, relations, memories }) => html`
  <div>
    <div class="head">
      <h1 class="wrap">${entity.name}</h1>
      <${Badge} tone="accent">${entity.type}<//>
      <p class="lead">
        ${nameOf(entity.namespace)} · mentioned ${plural(entity.mentions, "time")}
        ${entity.aliases?.length ? ` · also ${entity.aliases.join(", ")}` : ""}
        ${entity.description ? ` · ${entity.description}` : ""}
      </p>
    </div>
    <div class="grid half">
      <section class="card" aria-label="Around it">
        <header><h2>Around it</h2></header>
        <div class="body">
          ${relations.length
            ? html`
              <${Around} entity=${entity} groups=${grouped(relations, entity)} />
              <${Related} groups=${grouped(relations, entity)} />
            `
            : html`<p class="soft">Nothing is known to be related to it.</p>`}
        </div>
      </section>
      <div class="grid">
        ${facts.length ? html`
          <section class="card" aria-label="Facts">
            <header><h2>Facts</h2></header>
            <ul class="body rows">
              ${facts.map((fact) => html`
                <li key=${fact.fact_id}>
                  <div class="wrap">
                    ${fact.subject} ${fact.predicate.replaceAll("_", " ")}${" "}
                    <b>${fact.object}</b>${" "}
                    <span class="faint small">
                      ${sure(fact.confidence)}, ${SOURCE[fact.source_type] ?? fact.source_type}
                      ${fact.valid_until ? ", no longer true" : ""}
                    </span>
                  </div>
                </li>
              `)}
            </ul>
          </section>
        ` : null}
        <section class="card" aria-label="Memories that name it">
          <header>
            <h2>Memories that name it</h2>
            <a class="push small" href=${href("memories", "", { q: entity.name })}>Search</a>
          </header>
          ${memories.length ? html`
            <ul class="items">
              ${memories.slice(0, 12).map((record) => html`
                <li key=${record.record_id}><${MemoryLine} record=${record} /></li>
              `)}
            </ul>
          ` : html`<p class="state small">None.</p>`}
        </section>
      </div>
    </div>
  </div>
`;

const Related = ({ groups }) => html`
  <ul class="rows">
    ${groups.map(({ type, outward, ends }) => html`
      <li key=${`${type} ${outward}`}>
        <div class="wrap">
          ${outward ? html`<span class="soft">${type}</span>${" "}` : null}
          ${ends.map(([id, name], i) => html`
            ${i ? ", " : ""}<a key=${id} href=${href("entity", id)}>${name}</a>
          `)}
          ${outward ? null : html`${" "}<span class="soft">${type} this</span>`}
        </div>
      </li>
    `)}
  </ul>
`;

// Its neighbours on a ring, those of one kind of relation beside each other. The list below it has
// the same links, for the keyboard and for readers.
function Around({ entity, groups }) {
  const ends = groups.flatMap(({ type, ends: some }) =>
    some.map(([id, name]) => ({ id, name, type })),
  );
  const shown = [...new Map(ends.map((one) => [one.id, one])).values()].slice(0, MOST);
  const half = SIZE / 2;
  const placed = shown.map((one, i) => {
    const turn = (2 * Math.PI * i) / shown.length - Math.PI / 2;
    return {
      ...one,
      x: half + RING * Math.cos(turn),
      y: half + RING * 0.85 * Math.sin(turn),
      side: Math.cos(turn) > 0.3 ? "start" : Math.cos(turn) < -0.3 ? "end" : "middle",
      low: Math.sin(turn) > 0,
    };
  });
  const shift = { start: 8, end: -8, middle: 0 };
  return html`
    <svg class="around" viewBox=${`-90 0 ${SIZE + 180} ${SIZE}`} aria-hidden="true">
      ${placed.map((one) => html`
        <line x1=${half} y1=${half} x2=${one.x} y2=${one.y}><title>${one.type}</title></line>
      `)}
      ${placed.map((one) => html`
        <a key=${one.id} href=${href("entity", one.id)} tabindex="-1">
          <circle cx=${one.x} cy=${one.y} r="5" />
          <text
            x=${one.x + shift[one.side]}
            y=${one.side === "middle" ? one.y + (one.low ? 20 : -12) : one.y + 4}
            text-anchor=${one.side}>
            ${short(one.name.split("/").at(-1), 24)}
          </text>
        </a>
      `)}
      <circle class="self" cx=${half} cy=${half} r="10" />
      <text class="self" x=${half} y=${half + 28} text-anchor="middle">
        ${short(entity.name.split("/").at(-1), 30)}
      </text>
    </svg>
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
