// How numbers and times are written.
const units = [
  ["year", 31536e3],
  ["month", 2592e3],
  ["week", 604800],
  ["day", 86400],
  ["hour", 3600],
  ["minute", 60],
];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const day = new Intl.DateTimeFormat("en", {
  weekday: "long",
  day: "numeric",
  month: "long",
  year: "numeric",
});
const stamp = new Intl.DateTimeFormat("en", {
  dateStyle: "medium",
  timeStyle: "short",
  hourCycle: "h23",
});
const clock = new Intl.DateTimeFormat("en", {
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
});
const plain = new Intl.NumberFormat("en");

export function ago(text) {
  if (!text) return "never";
  const seconds = (new Date(text) - Date.now()) / 1000;
  for (const [unit, size] of units)
    if (Math.abs(seconds) >= size) return relative.format(Math.round(seconds / size), unit);
  return "just now";
}
export const dayOf = (text) => day.format(new Date(text));
export const when = (text) => (text ? stamp.format(new Date(text)) : "never");
export const hour = (text) => clock.format(new Date(text));
export const count = (value) => plain.format(value ?? 0);
export const plural = (value, one, many = `${one}s`) =>
  `${count(value)} ${value === 1 ? one : many}`;
export const ms = (us) =>
  us >= 1e6
    ? `${(us / 1e6).toFixed(1)} s`
    : us >= 1000
      ? `${(us / 1000).toFixed(us < 1e4 ? 1 : 0)} ms`
      : `${Math.round(us)} µs`;
export const bytes = (value) => {
  let size = value ?? 0;
  for (const unit of ["B", "KB", "MB", "GB"]) {
    if (size < 1024 || unit === "GB")
      return `${size < 10 && unit !== "B" ? size.toFixed(1) : Math.round(size)} ${unit}`;
    size /= 1024;
  }
};
export const percent = (share) => `${Math.round(share * 100)}%`;
export const sure = (share) => `${percent(share)} sure`;
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
export const short = (text, most) =>
  text && text.length > most ? `${text.slice(0, most - 1)}…` : (text ?? "");

export const FRESH = {
  fresh: ["good", "Files unchanged"],
  drifted: ["warn", "Files changed"],
  orphaned: ["bad", "Files missing"],
};
// Not every agent reports the end of a session.
const IDLE_MS = 6 * 36e5;
export const sessionState = (one) =>
  one.status === "active" && Date.now() - new Date(one.last_event_at) > IDLE_MS
    ? "idle"
    : one.status;

// Kinds of events that are called otherwise for people.
export const EVENTS = { tool_use: "tool call", session_summary: "answer" };

export const TRIGGER = {
  prompt: "Prompt",
  "session-start": "Session start",
  tool: "Command",
  api: "API",
};
