// Plots the tracked ratios as SVG, one point per line of the file. Text follows the reader's light or dark colours.

import { areComparable } from "./decide.mjs";

/** @import { Line } from "./decide.mjs" */

const width = 832;
const height = 300;
const panel = { top: 44, bottom: 36, left: 44, width: 212, gap: 196 };
/** Between two names at the right, so that they can be read. */
const nameHeight = 13;

/** One colour for each measure, dark enough on white and light enough on black; q4 is dashed. @type {Record<string, string>} */
const colours = { "prefill 512": "#2f81d8", "decode 64": "#d1690e", "decode 900": "#2c9b57" };
const style = `
  text { font: 11px system-ui, sans-serif; fill: #333 }
  .head { font-size: 13px; font-weight: 600 }
  .axis { stroke: #9995 }
  .series { fill: none; stroke-width: 2 }
  @media (prefers-color-scheme: dark) { text { fill: #ddd } }`;

/** @param {string} text */
const escaped = (text) => text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
/** @param {number} value */
const short = (value) => String(Math.round(value * 10) / 10);

/** A round number of which a few are in `most`. @param {number} most */
function stepFor(most) {
  const power = 10 ** Math.floor(Math.log10(most / 3));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => most / step <= 4.5) ?? most;
}

/** Where the names go: as near to `wanted` as they can, none over another. @param {number[]} wanted from top to bottom */
function apart(wanted) {
  const lowest = height - panel.bottom;
  /** @type {number[]} */
  const places = [];
  for (const y of wanted) places.push(Math.max(y, (places.at(-1) ?? -Infinity) + nameHeight));
  for (let i = places.length - 1; i >= 0; --i)
    places[i] = Math.min(
      places[i] ?? 0,
      i === places.length - 1 ? lowest : (places[i + 1] ?? 0) - nameHeight,
    );
  return places;
}

/**
 * One graph. A line of another processor, of other kernels or another number of threads begins anew: it is no better or worse.
 * @param {string} head
 * @param {Line[]} lines
 * @param {(line: Line) => Record<string, number>} ratiosOf
 * @param {number} left
 * @param {string} unit
 */
function graph(head, lines, ratiosOf, left, unit) {
  const names = [...new Set(lines.flatMap((line) => Object.keys(ratiosOf(line))))];
  const most = Math.max(...lines.flatMap((line) => Object.values(ratiosOf(line))), Number.MIN_VALUE) * 1.05;
  const [top, bottom, right] = [panel.top, height - panel.bottom, left + panel.width];
  /** @param {number} index */
  const x = (index) => (lines.length === 1 ? right : left + (panel.width * index) / (lines.length - 1));
  /** @param {number} value */
  const y = (value) => bottom - ((bottom - top) * value) / most;
  const parts = [`<text class="head" x="${left}" y="20">${escaped(head)}</text>`];
  const step = stepFor(most);
  for (let value = 0; value <= most; value += step)
    parts.push(
      `<path class="axis" d="M${left} ${short(y(value))}H${right}"/>`,
      `<text x="${left - 6}" y="${short(y(value) + 4)}" text-anchor="end">${short(value)}${unit}</text>`,
    );
  const ends = names
    .map((name) => ({
      name,
      last: ratiosOf(lines.findLast((line) => name in ratiosOf(line)) ?? lines[0] ?? never())[name] ?? 0,
    }))
    .toSorted((a, b) => b.last - a.last);
  const places = apart(ends.map(({ last }) => y(last)));
  for (const [index, { name, last }] of ends.entries()) {
    const colour = colours[name.replace(/^\w+ /, "")] ?? "#888";
    const dashes = name.startsWith("q4") ? ' stroke-dasharray="5 3"' : "";
    let path = "";
    let previous;
    for (const [at, line] of lines.entries()) {
      const value = ratiosOf(line)[name];
      if (value === undefined) continue;
      const goesOn = previous && areComparable(previous, line);
      path += `${goesOn ? "L" : "M"}${short(x(at))} ${short(y(value))}`;
      parts.push(`<circle cx="${short(x(at))}" cy="${short(y(value))}" r="2.5" fill="${colour}"/>`);
      previous = line;
    }
    parts.push(
      `<path class="series" stroke="${colour}"${dashes} d="${path}"/>`,
      `<path stroke="${colour}"${dashes} stroke-width="2" d="M${right + 8} ${short(places[index] ?? 0)}h18"/>`,
      `<text x="${right + 31}" y="${short((places[index] ?? 0) + 4)}">${escaped(name)}: ${short(last)}${unit}</text>`,
    );
  }
  return parts;
}

/** @returns {never} */
function never() {
  throw new Error("there is no line to plot");
}

/** @param {Line[]} lines at least one */
export function svgOf(lines) {
  const [first, last] = [lines[0] ?? never(), lines.at(-1) ?? never()];
  const percent = (/** @type {Record<string, number>} */ shares) =>
    Object.fromEntries(Object.entries(shares).map(([name, share]) => [name, 100 * share]));
  const from = (/** @type {Line} */ line) => `${line.commit} (${line.date.slice(0, 10)})`;
  const span =
    lines.length === 1 ? from(first) : `${from(first)} to ${from(last)}, ${lines.length} measurements`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escaped(`Speed of GPT-2 124M's shapes in Chromium, ${span}`)}</title>`,
    `<style>${style}</style>`,
    ...graph("Times the scalar loop", lines, ({ loop }) => loop, panel.left, " ×"),
    ...graph(
      "Decoding, of what memory allows",
      lines,
      ({ floor }) => percent(floor),
      panel.left + panel.width + panel.gap,
      " %",
    ),
    `<text x="${panel.left}" y="${height - 8}">${escaped(span)}</text>`,
    "</svg>",
    "",
  ].join("\n");
}
