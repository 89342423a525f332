// Draws the graph. The same nodes and links always get the same positions.
import {
  forceCenter,
  forceCollide,
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
} from "../../vendor/d3-force.js";
import { html, useEffect, useRef } from "../html.js";
import { theme } from "../theme.js";

export const COLOURS = {
  project: "--violet",
  entity: "--accent",
  memory: "--info",
  fact: "--warn",
  concept: "--warn",
};
const RADIUS = { project: 13, entity: 7, memory: 5, fact: 4, concept: 6 };
const LABELS = 40;
const TICKS = 220;

const radius = (node) =>
  (RADIUS[node.kind] ?? 5) + Math.min(7, Math.sqrt(node.degree ?? 0));

// Positions by a simulation without randomness: nodes start on a spiral, ordered by id.
export function layout(nodes, links) {
  const known = new Set(nodes.map((node) => node.id));
  const placed = [...nodes]
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map((node, i) => {
      const angle = i * 2.399963;
      return {
        ...node,
        x: 14 * Math.sqrt(i) * Math.cos(angle),
        y: 14 * Math.sqrt(i) * Math.sin(angle),
        degree: 0,
      };
    });
  const joined = links
    .filter((link) => known.has(link.source) && known.has(link.target))
    .map((link) => ({ ...link }));
  const simulation = forceSimulation(placed)
    .force(
      "links",
      forceLink(joined)
        .id((node) => node.id)
        .distance(46)
        .strength(0.35),
    )
    .force(
      "apart",
      forceManyBody()
        .strength(placed.length > 400 ? -70 : -140)
        .distanceMax(420),
    )
    .force(
      "collide",
      forceCollide((node) => radius(node) + 4),
    )
    .force("x", forceX().strength(0.05))
    .force("y", forceY().strength(0.07))
    .force("centre", forceCenter(0, 0))
    .stop();
  for (const link of joined) {
    link.source.degree += 1;
    link.target.degree += 1;
  }
  simulation.tick(placed.length > 600 ? TICKS / 2 : TICKS);
  return { nodes: placed, links: joined };
}

export function Picture({ graph, focus, choose, label }) {
  const canvas = useRef(null);
  const view = useRef({ x: 0, y: 0, scale: 0, over: null });
  useEffect(() => {
    const element = canvas.current;
    const pen = element.getContext("2d");
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const at = view.current;
    const near = new Set();
    const lit = () => at.over?.id ?? focus;
    const fitted = () => {
      const xs = graph.nodes.map((node) => node.x),
        ys = graph.nodes.map((node) => node.y);
      const wide = Math.max(...xs) - Math.min(...xs) + 120,
        high = Math.max(...ys) - Math.min(...ys) + 120;
      at.scale = Math.min(1.6, element.clientWidth / wide, element.clientHeight / high);
      at.x = -((Math.max(...xs) + Math.min(...xs)) / 2);
      at.y = -((Math.max(...ys) + Math.min(...ys)) / 2);
    };
    const draw = () => {
      const ratio = devicePixelRatio || 1,
        wide = element.clientWidth,
        high = element.clientHeight;
      if (!wide) return;
      element.width = wide * ratio;
      element.height = high * ratio;
      if (!at.scale) fitted();
      near.clear();
      for (const link of graph.links)
        if (link.source.id === lit() || link.target.id === lit())
          near.add(link.source.id).add(link.target.id);
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      pen.clearRect(0, 0, wide, high);
      pen.translate(wide / 2, high / 2);
      pen.scale(at.scale, at.scale);
      pen.translate(at.x, at.y);
      for (const link of graph.links) {
        const bright = link.source.id === lit() || link.target.id === lit();
        pen.strokeStyle = colour(bright ? "--accent" : "--line-strong");
        pen.globalAlpha = lit() && !bright ? 0.18 : 0.7;
        pen.lineWidth = (bright ? 1.8 : 1) / at.scale;
        pen.beginPath();
        pen.moveTo(link.source.x, link.source.y);
        pen.lineTo(link.target.x, link.target.y);
        pen.stroke();
      }
      for (const node of graph.nodes) {
        pen.globalAlpha = lit() && lit() !== node.id && !near.has(node.id) ? 0.22 : 1;
        pen.fillStyle = colour(COLOURS[node.kind] ?? "--faint");
        pen.beginPath();
        pen.arc(node.x, node.y, radius(node), 0, 7);
        pen.fill();
        if (node.id === focus) {
          pen.lineWidth = 3 / at.scale;
          pen.strokeStyle = colour("--ink");
          pen.stroke();
        }
      }
      // Labels: the best connected that have room, and everything around what is looked at.
      pen.font = `${12 / at.scale}px ${style.getPropertyValue("--font")}`;
      pen.textAlign = "center";
      const taken = [];
      const wanted = [...graph.nodes].sort(
        (a, b) =>
          (b.id === lit()) - (a.id === lit()) ||
          near.has(b.id) - near.has(a.id) ||
          b.degree - a.degree ||
          (a.id < b.id ? -1 : 1),
      );
      let written = 0;
      for (const node of wanted) {
        if (written >= LABELS * Math.max(1, at.scale)) break;
        if (lit() && lit() !== node.id && !near.has(node.id)) continue;
        // Memories are many: they are named when one looks closer.
        if (!lit() && node.kind === "memory" && at.scale < 1.8) continue;
        const text = node.label.length > 30 ? `${node.label.slice(0, 29)}…` : node.label;
        const width = pen.measureText(text).width,
          y = node.y + radius(node) + 13 / at.scale;
        const box = [
          node.x - width / 2,
          y - 12 / at.scale,
          node.x + width / 2,
          y + 3 / at.scale,
        ];
        if (taken.some((t) => box[0] < t[2] && box[2] > t[0] && box[1] < t[3] && box[3] > t[1]))
          continue;
        taken.push(box);
        written += 1;
        pen.globalAlpha = 1;
        pen.lineWidth = 3 / at.scale;
        pen.strokeStyle = colour("--panel");
        pen.strokeText(text, node.x, y);
        pen.fillStyle = colour("--ink");
        pen.fillText(text, node.x, y);
      }
      pen.globalAlpha = 1;
    };
    const found = (event) => {
      const box = element.getBoundingClientRect();
      const x = (event.clientX - box.left - box.width / 2) / at.scale - at.x;
      const y = (event.clientY - box.top - box.height / 2) / at.scale - at.y;
      let best = null,
        least = Infinity;
      for (const node of graph.nodes) {
        const far = Math.hypot(node.x - x, node.y - y) - radius(node);
        if (far < 8 / at.scale && far < least) [best, least] = [node, far];
      }
      return best;
    };
    let drag = null;
    const down = (event) => {
      drag = { x: event.clientX, y: event.clientY, moved: false };
      element.setPointerCapture(event.pointerId);
    };
    const move = (event) => {
      if (drag) {
        const dx = event.clientX - drag.x,
          dy = event.clientY - drag.y;
        drag.moved ||= Math.abs(dx) + Math.abs(dy) > 4;
        if (drag.moved) {
          at.x += dx / at.scale;
          at.y += dy / at.scale;
          Object.assign(drag, { x: event.clientX, y: event.clientY });
          draw();
        }
        return;
      }
      const over = found(event);
      if (over !== at.over) {
        at.over = over;
        element.style.cursor = over ? "pointer" : "grab";
        draw();
      }
    };
    const up = (event) => {
      if (drag && !drag.moved) choose(found(event));
      drag = null;
    };
    const wheel = (event) => {
      event.preventDefault();
      at.scale = Math.min(5, Math.max(0.08, at.scale * Math.exp(-event.deltaY / 500)));
      draw();
    };
    const keys = (event) => {
      const step = 40 / at.scale;
      const moves = {
        ArrowLeft: [step, 0],
        ArrowRight: [-step, 0],
        ArrowUp: [0, step],
        ArrowDown: [0, -step],
      };
      if (moves[event.key])
        [at.x, at.y] = [at.x + moves[event.key][0], at.y + moves[event.key][1]];
      else if (event.key === "+" || event.key === "=") at.scale *= 1.2;
      else if (event.key === "-") at.scale /= 1.2;
      else if (event.key === "0") at.scale = 0;
      else return;
      event.preventDefault();
      draw();
    };
    const watcher = new ResizeObserver(draw);
    watcher.observe(element);
    for (const [name, act] of [
      ["pointerdown", down],
      ["pointermove", move],
      ["pointerup", up],
      ["keydown", keys],
    ])
      element.addEventListener(name, act);
    element.addEventListener("wheel", wheel, { passive: false });
    draw();
    return () => {
      watcher.disconnect();
      for (const [name, act] of [
        ["pointerdown", down],
        ["pointermove", move],
        ["pointerup", up],
        ["keydown", keys],
        ["wheel", wheel],
      ])
        element.removeEventListener(name, act);
    };
  }, [graph, focus, theme.value]);
  return html`<canvas ref=${canvas} tabindex="0" role="img" aria-label=${label}></canvas>`;
}
