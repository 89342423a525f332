// Every request of the dashboard, by name. No other module knows the paths.
import { call, get, patch, post, put, remove } from "./api.js";

const id = encodeURIComponent;

export const health = () => get("/healthz");
export const week = (filters) => get("/api/week", filters);
export const alarms = () => get("/api/alarms");
export const stats = (project) => get("/api/stats", { project });
export const kinds = () => get("/api/kinds");
export const projects = () => get("/api/projects");

export const memories = (filters, signal) => get("/api/memories", filters, signal);
export const search = (filters, signal) => get("/api/memories/search", filters, signal);
export const memory = (record) => get(`/api/memories/${id(record)}`);
export const history = (record) => get(`/api/memories/${id(record)}/history`);
export const provenance = (record) => get(`/api/memories/${id(record)}/provenance`);
export const edit = (record, change) => patch(`/api/memories/${id(record)}`, change);
export const forget = (record, never = false) =>
  remove(`/api/memories/${id(record)}`, undefined, never ? { never: true } : {});
export const forgetSome = (ids) => post("/api/memories/delete", { ids });
export const batch = (ids) => post("/api/memories/batch", { ids });
export const counts = (filters) => get("/api/memories/counts", filters);
export const searches = () => get("/api/searches");
export const saveSearch = (name, filters) => put(`/api/searches/${id(name)}`, { filters });
export const dropSearch = (name) => remove(`/api/searches/${id(name)}`);
export const undo = (operation) => post(`/api/operations/${id(operation)}/undo`);
export const move = (record, project) => post(`/api/memories/${id(record)}/move`, { project });
// For good; with `preview` it is only counted.
export const erase = (selection, preview) =>
  post("/api/forget", { ...selection, dry_run: preview });
export const mentions = (text) => post("/api/forget", { text, dry_run: true });
export const feedback = (record, verdict) =>
  post("/api/feedback", { record_id: record.record_id, namespace: record.namespace, verdict });
export const operations = (filters) => get("/api/operations", filters);

export const receipts = (filters, signal) => get("/api/receipts", filters, signal);
export const receipt = (name) => get(`/api/receipts/${id(name)}`);
export const context = (filters) => get("/api/context", filters);
export const explain = (query, project) => get("/api/explain", { query, project });

export const sessions = (filters, signal) => get("/api/sessions", filters, signal);
export const session = (name) => get(`/api/sessions/${id(name)}`);
export const trace = (name, after) => get(`/api/sessions/${id(name)}/trace`, { after });
export const project = (name) => get(`/api/projects/${id(name)}`);
export const files = (name, limit) => get(`/api/projects/${id(name)}/files`, { limit });
export const resume = (name) => get("/api/resume", { session_id: name });

export const beliefs = (filters) => get("/api/beliefs", filters);
export const keep = (belief, both = false) => post(`/api/beliefs/${id(belief)}/keep`, { both });
export const drop = (belief) => post(`/api/beliefs/${id(belief)}/drop`);
export const correct = (belief, text) => post(`/api/beliefs/${id(belief)}/correct`, { text });
export const merge = (belief, others) => post(`/api/beliefs/${id(belief)}/merge`, { others });
export const reach = (belief, change) => post(`/api/beliefs/${id(belief)}/scope`, change);
export const facts = (filters) => get("/api/facts", filters);
export const correctFact = (fact, change) => patch(`/api/known/${id(fact)}`, change);
export const removeFact = (fact) => remove(`/api/known/${id(fact)}`);
export const events = (filters) => get("/v1/events", { project: "all", ...filters });

export const entities = (filters) => get("/api/entities", filters);
export const entity = (name) => get(`/api/entities/${id(name)}`);

export const overview = (filters) => get("/api/analytics", filters);
export const activity = (filters) => get("/api/analytics/timeline", filters);
export const heatmap = (filters) => get("/api/analytics/heatmap", filters);
export const types = (filters) => get("/api/analytics/types", filters);
export const concepts = (filters) => get("/api/analytics/concepts", filters);
export const retrieval = (filters) => get("/api/analytics/retrieval", filters);

export const settings = () => get("/api/settings");
export const setSetting = (name, value) => put(`/api/settings/${id(name)}`, { value });
export const hosts = () => get("/api/hosts");
export const prove = (host) => post(`/api/hosts/${id(host)}/prove`);
export const queue = () => get("/api/queue");
export const runNow = () => post("/api/queue/run");
export const jobs = () => get("/api/jobs");
export const changeJob = (job_id, act) => post("/api/jobs", { job_id, act });
export const plugins = () => get("/api/plugins");
export const switchPlugin = (name, enabled) => put(`/api/plugins/${id(name)}`, { enabled });
export const imports = () => get("/api/import");
export const offers = () => post("/api/import/offers");
export const startImport = (sources) => post("/api/import", { sources });
export const backups = () => get("/api/backups");
export const backup = () => post("/api/backups");
export const doctor = () => get("/api/doctor");
export const addSample = () => post("/api/sample");
export const removeSample = () => call("DELETE", "/api/sample");
