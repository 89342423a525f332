// A map of a project's files: folders are areas, a file is as large as it was often touched, and
// its colour says what is known about it.
import { html, useEffect, useMemo, useRef, useState } from "../html.js";
import { theme } from "../theme.js";
import { ago, plural } from "../format.js";
import { boxesOf, treeOf } from "./treemap.js";

const LEGEND = [
  ["--accent", "Known, no change seen"],
  ["--warn", "Known, but the file changed"],
  ["--line-strong", "Touched, nothing known"],
];
const colourOf = (file) =>
  file.stale ? "--warn" : file.memories ? "--accent" : "--line-strong";
// More memories, stronger colour.
const strength = (file) =>
  !file.memories
    ? 0.4
    : file.stale
      ? 0.5
      : Math.min(1, 0.45 + 0.12 * Math.log2(1 + file.memories));
const heightOf = (files) => (files.length < 8 ? 160 : files.length < 40 ? 280 : 420);

export const wordsFor = (file) =>
  [
    `touched in ${plural(file.sessions, "session")}`,
    file.last ? `last ${ago(file.last)}` : "",
    file.people.length ? `by ${file.people.join(", ")}` : "",
    file.memories ? plural(file.memories, "memory", "memories") : "nothing known",
    file.stale ? `${file.stale} from before it changed` : "",
  ]
    .filter(Boolean)
    .join(", ");

function draw(canvas, boxes, over, chosen) {
  const ratio = devicePixelRatio || 1;
  const pen = canvas.getContext("2d");
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const tones = Object.fromEntries(
    [
      "--accent",
      "--accent-ink",
      "--warn",
      "--line-strong",
      "--panel",
      "--ink",
      "--soft",
      "--sunken",
    ].map((name) => [name, colour(name)]),
  );
  canvas.width = canvas.clientWidth * ratio;
  canvas.height = canvas.clientHeight * ratio;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.textBaseline = "top";
  const strong = style.colorScheme === "dark" ? 0.6 : 0.75; // from here on ink is hard to read
  for (const { x, y, w, h, name, file } of boxes) {
    pen.globalAlpha = 1;
    pen.fillStyle = tones["--panel"];
    pen.fillRect(x, y, w, h);
    pen.fillStyle = file ? tones[colourOf(file)] : tones["--sunken"];
    pen.globalAlpha = file ? strength(file) : 1;
    pen.fillRect(x + 0.5, y + 0.5, Math.max(0, w - 1), Math.max(0, h - 1));
    pen.globalAlpha = 1;
    if (file && (file === over || file.path === chosen)) {
      pen.strokeStyle = tones["--ink"];
      pen.lineWidth = 2;
      pen.strokeRect(x + 1.5, y + 1.5, Math.max(0, w - 3), Math.max(0, h - 3));
    }
    if (name && w > (file ? 44 : 50) && h > 14) {
      pen.font = `${file ? "" : "600 "}11px ${style.getPropertyValue("--font")}`;
      const dark = file?.memories && strength(file) > strong;
      pen.fillStyle = tones[dark ? "--accent-ink" : file ? "--ink" : "--soft"];
      const room = Math.floor((w - 8) / 6.6);
      pen.fillText(name.length > room ? `${name.slice(0, room - 1)}…` : name, x + 4, y + 3);
    }
  }
}

export function FileMap({ files, chosen, choose }) {
  const canvas = useRef(null);
  const [size, set] = useState([0, 0]);
  const [over, look] = useState(null);
  const tree = useMemo(() => treeOf(files), [files]);
  const boxes = useMemo(() => (size[0] ? boxesOf(tree, ...size) : []), [tree, ...size]);
  useEffect(() => {
    const measure = () =>
      canvas.current && set([canvas.current.clientWidth, canvas.current.clientHeight]);
    const watcher = new ResizeObserver(measure);
    watcher.observe(canvas.current);
    measure();
    return () => watcher.disconnect();
  }, []);
  useEffect(() => {
    if (boxes.length && canvas.current) draw(canvas.current, boxes, over, chosen);
  }, [boxes, over, chosen, theme.value]);
  const fileAt = (event) => {
    const { offsetX: left, offsetY: top } = event;
    return boxes.findLast(
      ({ x, y, w, h, file }) => file && left >= x && left < x + w && top >= y && top < y + h,
    )?.file;
  };
  return html`
    <div class="filemap">
      <canvas
        ref=${canvas}
        style=${{ height: `${heightOf(files)}px` }}
        role="img"
        aria-label=${`A map of ${plural(files.length, "file")}; the list has the same content.`}
        onPointerMove=${(event) => look(fileAt(event) ?? null)}
        onPointerLeave=${() => look(null)}
        onClick=${(event) => choose(fileAt(event)?.path ?? "")}></canvas>
      <p class="small over" aria-hidden="true">
        ${over
          ? html`<code>${over.path}</code> ${wordsFor(over)}`
          : "Size: how many sessions touched it. Point at a file, or click it."}
      </p>
      <p class="legend">
        ${LEGEND.map(([tone, words]) => html`
          <span key=${tone}><i style=${{ background: `var(${tone})` }}></i>${words}</span>
        `)}
      </p>
    </div>
  `;
}
