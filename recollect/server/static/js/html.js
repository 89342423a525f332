// What every view imports: html as tagged templates, hooks, and signals.
import { h, render, Component } from "../vendor/preact.js";
import htm from "../vendor/htm.js";

export { render, Component };
export { useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/preact-hooks.js";
export { signal, effect } from "../vendor/signals.js";
export const html = htm.bind(h);
