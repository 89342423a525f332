// Where we are: #/view/id?filters. Filters live in the address, so a reload or a link keeps them.
import { signal } from "./html.js";

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
  return {
    view,
    id: decoded.join("/"),
    params: Object.fromEntries(new URLSearchParams(query)),
  };
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
