import { html, render } from "./html.js";
render(html`<p>Soon.</p>`, document.getElementById("app"));
