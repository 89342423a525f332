// All projects, and the choice among them, which is part of the address.
import { html, signal } from "./html.js";
import { refine, route } from "./route.js";

export const projects = signal([]);

// The id of a namespace's project; what holds everywhere is `global`.
export const projectOf = (namespace) =>
  (namespace ?? "").split("/project/")[1]?.replace(/\/$/, "") || "global";

export function nameOf(namespace) {
  const id = projectOf(namespace);
  if (id === "global") return "Everywhere";
  return projects.value.find((one) => one.project_id === id)?.name ?? id;
}

export const namespaceOf = (project) =>
  projects.value.find((one) => (one.project_id || "global") === project)?.namespace;

// The one that was worked in last; the daemon lists it first.
export const lastUsed = () => projects.value.find((one) => one.project_id)?.project_id;

// With `counts`, by id, each choice says how many it would show. `one`: the project that is chosen
// when the address names none; there is no choice of all then.
export const ProjectFilter = ({ counts, one: preset }) => html`
  <select
    aria-label="Project"
    value=${route.value.params.project ?? preset ?? ""}
    onChange=${(event) => refine({ project: event.target.value })}>
    ${preset ? null : html`<option value="">All projects</option>`}
    ${projects.value.map((one) => html`
      <option key=${one.project_id} value=${one.project_id || "global"}>
        ${one.project_id ? one.name : "Everywhere"}
        ${counts ? ` (${counts[one.project_id || "global"] ?? 0})` : ""}
      </option>
    `)}
  </select>
`;
