import { visuallyHidden } from "./html-element.js";

// Colours derive from the page's own, so that they fit light and dark pages. Chrome and Edge before 111 lack color-mix():
// with var(), or in a custom property, it would make each declaration that uses it invalid.
// Stryker disable next-line StringLiteral: only a browser draws
export const writerStyle = `
:host {
  display: block;
  --accent: var(--gpt2-accent, #1f5fbf);
  --line: var(--gpt2-line, #767676);
  --ring: var(--accent);
  --radius: var(--gpt2-radius, 0.5rem);
}
@supports (color: color-mix(in srgb, red, red)) {
  :host {
    --line: var(--gpt2-line, color-mix(in srgb, currentColor 45%, transparent));
    --ring: color-mix(in srgb, var(--accent) 65%, currentColor); /* seen on dark pages, too */
  }
}
:host([hidden]) {
  display: none;
}
textarea,
button {
  font: inherit;
  letter-spacing: inherit;
}
textarea {
  display: block;
  box-sizing: border-box;
  width: 100%;
  margin: 0;
  padding: 0.75em;
  resize: vertical;
  color: var(--gpt2-ink, inherit);
  background: var(--gpt2-surface, transparent);
  border: 1px solid var(--line);
  border-radius: var(--radius);
}
::placeholder {
  color: inherit;
  opacity: 0.65;
}
:is(textarea, button):focus-visible {
  outline: 2px solid var(--ring);
  outline-offset: 2px;
}
.footer {
  display: flex;
  align-items: center;
  gap: 0.75em;
  margin-top: 0.6em;
  min-height: 2.75em;
}
button {
  flex: none;
  min-width: 6em;
  min-height: 2.75em;
  padding: 0 1em;
  cursor: pointer;
  color: var(--gpt2-on-accent, #fff);
  background: var(--accent);
  border: 0;
  border-radius: var(--radius);
}
button:disabled {
  cursor: default;
  opacity: 0.5;
}
.state {
  flex: 1;
  min-width: 0;
  min-height: 2.2em; /* a line of each: nothing moves when they come */
  position: relative;
}
.status {
  display: block;
  font-size: 0.875em;
  line-height: 1.3;
  max-height: 2.6em;
  overflow: auto;
  overflow-wrap: anywhere;
}
.state:not(:has(.busy)) .status {
  transform: translateY(calc(1.257em - 50%)); /* beside the button's middle; as it is no layout, it is no shift */
}
.status.failed {
  color: color-mix(in srgb, #d93025 55%, currentColor);
}
.pace {
  display: block;
  font-size: 0.75em;
  line-height: 1.3;
  opacity: 0.7;
  font-variant-numeric: tabular-nums;
}
progress {
  position: absolute;
  inset: auto 0 -0.5em;
  width: 100%;
  height: 0.25em;
  appearance: none;
  border: 0;
  border-radius: 1em;
  overflow: hidden;
  background: color-mix(in srgb, currentColor 20%, transparent);
  visibility: hidden;
}
progress.busy {
  visibility: visible;
}
progress::-webkit-progress-bar {
  background: transparent;
}
progress::-webkit-progress-value {
  background: var(--accent);
}
progress::-moz-progress-bar {
  background: var(--accent);
}
@media (forced-colors: active) {
  button,
  textarea {
    border: 1px solid;
  }
}
${visuallyHidden}`;
