// Lines over time by uPlot, in the colours of the theme, with a table for screen readers.
import uPlot from "../../vendor/uplot.js";
import { html, useEffect, useRef } from "../html.js";
import { theme } from "../theme.js";

const COLOURS = ["--accent", "--info", "--warn", "--violet"];

export function Lines({ label, times, series, unit = "", height = 200 }) {
  const box = useRef(null);
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  useEffect(() => {
    const grid = { stroke: colour("--line"), width: 1 };
    const axis = { stroke: colour("--soft"), grid, ticks: { show: false } };
    const plot = new uPlot(
      {
        width: box.current.clientWidth || 400,
        height,
        cursor: { y: false },
        scales: { y: { range: (_plot, _low, high) => [0, (high || 1) * 1.1] } },
        axes: [
          axis,
          {
            ...axis,
            size: 56,
            values: (_plot, all) => all.map((value) => `${+value.toFixed(2)}${unit}`),
          },
        ],
        series: [
          {},
          ...series.map((one, i) => ({
            label: one.label,
            stroke: colour(COLOURS[i % 4]),
            width: 2,
            fill: i ? undefined : `${colour(COLOURS[0])}22`,
            points: { show: times.length < 40 },
          })),
        ],
      },
      [times, ...series.map((one) => one.values)],
      box.current,
    );
    const watcher = new ResizeObserver(
      () => box.current && plot.setSize({ width: box.current.clientWidth, height }),
    );
    watcher.observe(box.current);
    return () => {
      watcher.disconnect();
      plot.destroy();
    };
  }, [times, series, theme.value]);
  return html`
    <figure style=${{ margin: 0 }}>
      <div class="chart" ref=${box} role="img" aria-label=${label}></div>
      <table class="hidden-visually">
        <caption>${label}</caption>
        <thead>
          <tr>
            <th>Time</th>
            ${series.map((one) => html`<th>${one.label}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${times.slice(-60).map((time, i) => html`
            <tr>
              <td>${new Date(time * 1000).toISOString().slice(0, 10)}</td>
              ${series.map((one) => html`<td>${one.values[i]}</td>`)}
            </tr>
          `)}
        </tbody>
      </table>
    </figure>
  `;
}
