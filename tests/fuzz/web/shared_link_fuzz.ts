// Any text behind `#text=`: it is refused, or it is a text that the editor can show, whose options are known ones. A link
// carries such a text unchanged.
import { deepStrictEqual } from "node:assert";
import { EditorState } from "@codemirror/state";
import {
  addWritten,
  toKeptText,
  rangesOfParts,
  writtenTracking,
} from "../../../web/page/document/written.js";
import { fromFragment, toFragment, type SharedText } from "../../../web/page/library/shared-text.js";
import { numberOptionNames } from "../../../web/src/shared/number-options.js";
import { linkedText, packed } from "./links.js";
import { fuzzTarget } from "./target.js";

const mostBytes = 1_000_000; // that a fragment may unpack to
const known = new Set<string>([...numberOptionNames, "ignoreEos", "heal", "stop"]);

/** The passage in a fragment; undefined if it is refused. */
const readLink = (input: string): Promise<SharedText | undefined> =>
  fromFragment(input).catch(() => undefined);

/** The text in the editor. Throws as the page would if it cannot be shown. */
function textShown({ prompt, after, written: parts }: SharedText): string {
  const state = EditorState.create({ doc: prompt + after, extensions: [writtenTracking] });
  const inside = parts.filter(([, to]) => to <= state.doc.length);
  const shown = state.update({ effects: addWritten.of(rangesOfParts(inside)) }).state;
  let end = 0;
  for (const [from, to] of toKeptText(shown).written) {
    if (from < end || to > state.doc.length) throw new Error("parts lie on one another, or outside");
    end = to;
  }
  return shown.doc.toString();
}

export const target = fuzzTarget<string>({
  arbitrary: linkedText,
  examples: [
    "",
    packed("null"),
    packed('{"prompt":"a","options":{"topP":-1e999}}'),
    packed(JSON.stringify({ prompt: "a".repeat(2e6), options: {} })),
  ],
  async check(input) {
    const found = await readLink(input);
    if (!found) return;
    if (found.prompt.length + found.after.length > mostBytes) throw new Error("a text that is too long");
    const names = Object.keys(found.options);
    const other = names.find((name) => !known.has(name));
    if (other !== undefined) throw new Error(`the option ${other} came through`);
    const fields = Object.entries(found.fields ?? { remember: "", note: "a" });
    if (fields.map(([name]) => name).join() !== "remember,note") throw new Error("other fields come through");
    if (fields.some(([, field]) => typeof field !== "string" || field.length > 4000))
      throw new Error("a field is too long, or no text");
    if (fields.every(([, field]) => field.trim() === "")) throw new Error("fields that are blank are set");
    if (Object.getPrototypeOf(found.options) !== Object.prototype) throw new Error("options of another kind");
    if (textShown(found) !== found.prompt + found.after) throw new Error("another text is shown");
    if (JSON.stringify(found).length < mostBytes / 6)
      deepStrictEqual(await readLink(await toFragment(found)), found);
  },
});
