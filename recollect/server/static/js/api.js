// All calls to the daemon. A failed call throws a Problem: what went wrong, and what to do.
class Problem extends Error {
  constructor(
    status,
    { code = "failed", message = "The request failed.", hint = "", field = "" } = {},
  ) {
    super(message);
    Object.assign(this, { status, code, hint, field });
  }
}

const GONE = {
  code: "unreachable",
  message: "The daemon does not answer.",
  hint: "recollect up",
};
const LOCKED = {
  code: "no_session",
  message: "This browser is not signed in, or its session has ended.",
  hint: "recollect open",
};

export async function call(method, path, { params, body, signal } = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params ?? {}))
    if (value !== undefined && value !== null && value !== "") query.set(name, value);
  const address = query.size ? `${path}?${query}` : path;
  const options = { method, signal, headers: { accept: "application/json" } };
  if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers["content-type"] = "application/json";
  }
  let answer;
  try {
    answer = await fetch(address, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, GONE);
  }
  if (answer.status === 401) throw new Problem(401, LOCKED);
  const text = await answer.text();
  let data = null;
  try {
    data = text ? JSON.parse(text) : null;
  } catch {
    if (answer.ok) return text;
  }
  if (!answer.ok) throw new Problem(answer.status, data?.error);
  return data;
}

export const get = (path, params, signal) => call("GET", path, { params, signal });
export const post = (path, body = {}, params) => call("POST", path, { body, params });
export const put = (path, body) => call("PUT", path, { body });
export const patch = (path, body) => call("PATCH", path, { body });
export const remove = (path, body, params) => call("DELETE", path, { body, params });
