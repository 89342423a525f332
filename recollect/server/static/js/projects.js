// All projects, and the choice among them, which is part of the address.
import { html, signal } from "./html.js";
import { refine, route } from "./route.js";

export const projects = signal([]);

export function nameOf(namespace) {
  const id = (namespace ?? "").split("/project/")[1]?.replace(/\/$/, "");
  if (!id) return "Everywhere";
  return projects.value.find((one) => one.project_id === id)?.name ?? id;
}

export const namespaceOf = (project) =>
  projects.value.find((one) => (one.project_id || "global") === project)?.namespace;

// With `counts`, by id, each choice says how many it would show.
export const ProjectFilter = ({ counts }) => html`
  <select
    aria-label="Project"
    value=${route.value.params.project ?? ""}
    onChange=${(event) => refine({ project: event.target.value })}>
    <option value="">All projects</option>
    ${projects.value.map((one) => html`
      <option key=${one.project_id} value=${one.project_id || "global"}>
        ${one.project_id ? one.name : "Everywhere"}
        ${counts ? ` (${counts[one.project_id || "global"] ?? 0})` : ""}
      </option>
    `)}
  </select>
`;
