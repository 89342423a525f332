// Where we are: #/view/id?filters. Filters live in the address, so a reload or a link keeps them.
import { signal } from "./html.js";

// Addresses of earlier versions.
const MOVED = {
  graph: (id, { project }) =>
    id.startsWith("mr_")
      ? { view: "memories", id, params: {} }
      : { view: id ? "entity" : "projects", id: id || (project ?? ""), params: {} },
  timeline: (_id, { project = "", log = "" }) => ({
    view: "sessions",
    id: "",
    params: { project, show: log },
  }),
};

function parse() {
  const [path, query = ""] = (location.hash.replace(/^#\/?/, "") || "week").split("?");
  const [view, ...rest] = path.split("/");
  const decoded = rest.map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
  const params = Object.fromEntries(new URLSearchParams(query));
  return MOVED[view]?.(decoded.join("/"), params) ?? { view, id: decoded.join("/"), params };
}

export const route = signal(parse());
addEventListener("hashchange", () => (route.value = parse()));

export function href(view, id = "", params = {}) {
  const kept = Object.entries(params).filter(([, value]) => value !== "" && value != null);
  const query = kept.length ? `?${new URLSearchParams(kept)}` : "";
  return `#/${view}${id ? `/${encodeURIComponent(id)}` : ""}${query}`;
}

export function go(view, id, params) {
  location.hash = href(view, id, params);
}

// Change filters in place; typing must not fill the history.
export function refine(changes) {
  const { view, id, params } = route.value;
  history.replaceState(null, "", href(view, id, { ...params, ...changes }));
  route.value = parse();
}
