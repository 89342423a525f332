// The frame of the page: navigation, search, connection state. Each view is a file.
import * as daemon from "./daemon.js";
import { html, render, useEffect, useState } from "./html.js";
import { table } from "./kinds.js";
import { connection, start } from "./live.js";
import { projects } from "./projects.js";
import { href, route } from "./route.js";
import { choice } from "./theme.js";
import { LISTED, VIEWS } from "./views.js";
import { ForgetAbout, forgetting } from "./parts/forgetabout.js";
import { Palette, palette } from "./parts/palette.js";
import { GLASS, Icon } from "./parts/pieces.js";
import { Section, useData } from "./parts/states.js";
import { Toasts } from "./parts/toast.js";

const ON_PHONE = 4; // views that stand in the bar of a phone; the others are behind a button
const LINK = {
  live: ["good", "Live"],
  connecting: ["", "Connecting…"],
  lost: ["bad", "Disconnected; retrying"],
};

const Lost = () => html`
  <div>
    <div class="head"><h1>There is no such page</h1></div>
    <p>The address may be mistyped. <a href="#/week">Go to This week</a></p>
  </div>
`;

// The address is the view's: going to the content must not change it.
function skip(event) {
  event.preventDefault();
  document.getElementById("main").focus();
}

function App() {
  const { view } = route.value;
  const [more, expand] = useState(false);
  const [, title, View] = VIEWS.find(([name]) => name === view) ?? ["", "Not found", Lost];
  const health = useData(daemon.health, "", ["reset"]);
  // A session may begin in a project that is not listed yet.
  const known = useData(daemon.projects, "", ["session"], (data, _kind, told) =>
    data.items.some((one) => one.namespace === told.namespace) ? data : undefined,
  );
  const kinds = useData(daemon.kinds, "", ["reset"]);
  useEffect(() => {
    if (kinds.data) table.value = kinds.data;
  }, [kinds.data]);
  useEffect(() => {
    if (known.data) projects.value = known.data.items;
  }, [known.data]);
  useEffect(() => {
    document.title = `${title} · Recollect`;
  }, [title]);
  const [tone, words] = LINK[connection.value];
  return html`
    <div>
      <a class="skip" href="#main" onClick=${skip}>Skip to the content</a>
      <div class="frame">
        <header class="side">
          <a class="brand" href="#/week">
            <img src="/static/icon.svg" alt="" />
            Recollect
          </a>
          <nav class=${more ? "nav all" : "nav"} aria-label="Views">
            ${LISTED.map(([name, label, , icon], place) => html`
              <a
                key=${name}
                class=${place < ON_PHONE ? "" : "rest"}
                href=${href(name)}
                onClick=${() => expand(false)}
                aria-current=${name === view ? "page" : null}>
                <${Icon} path=${icon} />
                ${label}
              </a>
            `)}
            <button class="phone rest" onClick=${() => (palette.value = true)}>
              <${Icon} path=${GLASS} />
              Search
            </button>
            <button class="phone" aria-expanded=${more} onClick=${() => expand(!more)}>
              <${Icon} path=${more ? "M6 6l12 12M18 6L6 18" : "M4 7h16M4 12h16M4 17h16"} />
              ${more ? "Less" : "More"}
            </button>
          </nav>
          <div class="foot">
            <button onClick=${() => (palette.value = true)}>
              <${Icon} path=${GLASS} />
              Search <kbd class="faint">Ctrl K</kbd>
            </button>
            <label class="row-line">
              <span class="hidden-visually">Theme</span>
              <select
                value=${choice.value}
                onChange=${(event) => (choice.value = event.target.value)}
                aria-label="Theme">
                <option value="system">System theme</option>
                <option value="light">Light</option>
                <option value="dark">Dark</option>
              </select>
            </label>
            <span class="row-line" role="status">
              <i class=${`dot ${tone}`}></i>
              ${words}
            </span>
            ${health.data ? html`<span class="faint">Version ${health.data.version}</span>` : null}
          </div>
        </header>
        <main class="main" id="main" tabindex="-1">
          <${Section} key=${view}><${View} /><//>
        </main>
      </div>
      ${palette.value ? html`<${Palette} />` : null}
      ${forgetting.value ? html`<${ForgetAbout} />` : null}
      <${Toasts} />
    </div>
  `;
}

addEventListener("keydown", (event) => {
  const typing = /^(input|textarea|select)$/i.test(event.target.tagName ?? "");
  const search = event.key === "/" && !typing && !palette.value;
  if (!search && !(event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey))) return;
  event.preventDefault();
  // A view that has a search of its own is searched there.
  const own = search && document.querySelector("#main [role=search] input");
  if (own) own.focus();
  else palette.value = true;
});
start();
const root = document.getElementById("app");
root.replaceChildren();
render(html`<${App} />`, root);
