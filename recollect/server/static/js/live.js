// Server-sent events from the daemon. The browser reconnects by itself and names the last event it
// saw, so nothing is missed; when that is too long ago the daemon sends `reset`, and views reload.
// What is sent is enough to change a list in place: see `patch` of useData.
import { signal } from "./html.js";

export const connection = signal("connecting"); // connecting, live, lost
export const feed = signal([]); // newest first
const KINDS = [
  "event",
  "prompt",
  "memory",
  "summary",
  "session",
  "checkpoint",
  "receipt",
  "removed",
  "run",
];
const KEPT = 200;
const POLL_MS = 5000;
const listeners = new Set();
let timer = 0;

// Calls `heard(kind, data)` for everything that happens; returns a function that ends it.
export function listen(heard) {
  listeners.add(heard);
  return () => listeners.delete(heard);
}

function tell(kind, data) {
  for (const heard of listeners) heard(kind, data);
}

export function start() {
  const source = new EventSource("/api/events");
  source.onopen = () => {
    clearInterval(timer);
    const again = connection.value === "lost";
    connection.value = "live";
    if (again) tell("reset", null);
  };
  source.onerror = () => {
    if (connection.value !== "lost") {
      connection.value = "lost";
      // Until it is back, look now and then: the daemon may answer while the stream cannot.
      clearInterval(timer);
      timer = setInterval(() => tell("reset", null), POLL_MS);
    }
    if (source.readyState === EventSource.CLOSED) setTimeout(start, POLL_MS); // it was refused
  };
  for (const kind of KINDS)
    source.addEventListener(kind, (message) => {
      const data = JSON.parse(message.data);
      feed.value = [
        { id: message.lastEventId, kind, data, at: Date.now() },
        ...feed.value,
      ].slice(0, KEPT);
      tell(kind, data);
    });
  source.addEventListener("reset", () => tell("reset", null));
}
