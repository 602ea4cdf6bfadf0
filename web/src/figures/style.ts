// The style that all figures share. Colours derive from the site's own, so that they fit light and dark pages. Chrome and Edge
// before 111 lack color-mix(): with var(), or in a custom property, it would make each declaration that uses it invalid.

import { figures } from "./figures.js";

const base = `
:host {
  display: block;
  --quiet: var(--gpt2-quiet, currentColor);
  --line: var(--gpt2-line, #8886);
  --accent: var(--gpt2-accent, #1f5fbf);
  --mark: var(--gpt2-mark, var(--accent));
  --surface: var(--gpt2-surface, transparent);
  --pressed: var(--surface);
}
@supports (color: color-mix(in srgb, red, red)) {
  :host {
    --quiet: var(--gpt2-quiet, color-mix(in srgb, currentColor 75%, transparent));
    --line: var(--gpt2-line, color-mix(in srgb, currentColor 25%, transparent));
    --accent: var(--gpt2-accent, color-mix(in srgb, #1f5fbf 65%, currentColor));
    --pressed: color-mix(in srgb, var(--mark) 20%, transparent);
  }
}
:host([hidden]),
[hidden] {
  display: none !important;
}
* {
  box-sizing: border-box;
  scroll-margin-block: var(--gpt2-scroll-margin, 0);
}
.inside {
  display: grid;
  grid-template-columns: minmax(0, 1fr);
  gap: 0.6667em;
  container-type: inline-size;
  overflow-wrap: anywhere; /* large text in a narrow window breaks inside words before it overflows */
}
p {
  margin: 0;
}
button {
  border: 0;
  padding: 0;
  background: none;
  color: inherit;
  font: inherit;
  cursor: pointer;
}
:focus-visible {
  outline: 3px solid var(--accent);
  outline-offset: 2px;
}
.diagram {
  position: relative;
  height: 9.0667em;
  line-height: 1.2;
  overflow-wrap: normal;
}
/* Places in the pictures count from the left, also in a page that is written from right to left. */
.diagram,
.picture {
  direction: ltr;
}
.diagram > * {
  font-size: 0.75em;
  font-size: clamp(0.6667em, 3cqi, 0.8em);
}
.diagram svg {
  position: absolute;
  width: 100%;
  height: 100%;
}
.diagram .layers {
  fill: none;
  stroke: var(--quiet);
  stroke-width: 1px;
  stroke-dasharray: 3 3;
}
.diagram :is(line, .sum) {
  stroke: var(--quiet);
  stroke-width: 1.5px;
}
.diagram .sum {
  fill: var(--surface);
}
.diagram marker path {
  fill: context-stroke;
}
.diagram line.shown {
  stroke: var(--mark);
  stroke-width: 3px;
}
.layers-name {
  position: absolute;
  inset: 5% 28% auto;
  color: var(--quiet);
  text-align: center;
}
button.part {
  position: absolute;
  min-height: 24px;
  padding: 0.125em;
  border: 1px solid var(--quiet);
  border-radius: 0.5em;
  background: var(--surface);
  font-weight: 500;
  line-height: inherit;
}
button.part:hover {
  border-color: currentColor;
}
button.part.shown {
  border-color: var(--mark);
  box-shadow: 0 0 0 2px var(--mark);
}
button.part[aria-pressed="true"] {
  border: 2px solid var(--mark);
  background: var(--pressed);
  font-weight: 700;
}
/* At the percentages of the lines in diagram.ts. */
[data-part="embedding"] {
  inset: 55% 76% 19% 0;
}
[data-part="positions"] {
  inset: 10% 76% 66% 0;
}
[data-part="residual"] {
  inset: 76% 30% 3%;
}
[data-part="attention"] {
  inset: 23% 48.5% 54% 30%;
}
[data-part="mlp"] {
  inset: 23% 30% 54% 54.5%;
}
[data-part="unembedding"] {
  inset: 55% 0 19% 76%;
}
/* If the longest name does not fit its box, as with large text in a narrow window, only the parts are shown. */
@container (max-width: 18rem) {
  .diagram {
    display: flex;
    flex-wrap: wrap;
    gap: 0.4em;
    height: auto;
  }
  .diagram > * {
    font-size: 0.8em;
  }
  .diagram svg {
    display: none;
  }
  .layers-name {
    position: static;
    flex-basis: 100%;
    text-align: start;
  }
  button.part {
    position: static;
    padding: 0.125em 0.5em;
  }
}
.part-sentence {
  min-height: 4.5em;
  font-size: 0.9333em;
}
.part-link {
  color: var(--accent);
  text-decoration: underline;
}
.pictures {
  display: grid;
  grid-template-columns: minmax(0, 1fr);
  gap: 1.6em;
}
.pictures.stale {
  opacity: 0.4;
}
.pictures.cleared {
  visibility: hidden;
}
figure {
  display: grid;
  grid-template-columns: minmax(0, 1fr);
  gap: 0.5333em;
  margin: 0;
  padding-top: 0.8em;
  border-top: 1px solid var(--line);
}
:is(h1, h2, h3, h4, h5, h6) {
  margin: 0 0 0.25em;
  color: var(--quiet);
  font-size: 1.0667em;
}
figcaption p {
  color: var(--quiet);
  font-size: 0.9333em;
}
figcaption .finding {
  min-height: 1.5em;
  color: inherit;
  font-weight: 600;
}
.picture {
  min-width: 0;
  overflow: hidden;
}
.picture.waiting {
  opacity: 0.3;
}
.picture svg {
  display: block;
  max-width: 100%;
}
.picture text {
  fill: currentColor;
  font-size: 13px;
}
summary {
  padding: 0.25em 0;
  cursor: pointer;
  font-weight: 600;
}
details {
  color: var(--quiet);
  font-size: 0.9333em;
}
.words {
  overflow-x: auto;
}
table {
  width: 100%;
  margin-top: 0.5em;
  border-collapse: collapse;
  font-variant-numeric: tabular-nums;
}
:is(th, td) {
  padding: 0.125em 0.5em 0.125em 0;
  border-bottom: 1px solid var(--line);
  text-align: left;
  vertical-align: top;
}
.unseen {
  position: absolute;
  width: 1px;
  height: 1px;
  margin: -1px;
  overflow: hidden;
  clip-path: inset(50%);
  white-space: nowrap;
}
@media (forced-colors: active) {
  .diagram line.shown { stroke: Highlight; }
}
`;

export const insideStyle = [base, ...figures.map(({ style }) => style)].join("");
