// Links to a text: whoever opens one gets the very same, written anew by the same model, and is told so.
import { sha256 } from "../../src/loader/sha256.js";
import { onPress, setEnabled } from "../buttons.js";
import { addressOf, queryOf } from "../chosen-model.js";
import type { Editor } from "../editor/editor.js";
import { elements as ui } from "../elements.js";
import { chosenModel, whenModel } from "../loading.js";
import { say } from "../messages.js";
import { atEnd, lastWritten, write, type WrittenText } from "../writing.js";
import { fromFragment, toFragment } from "./passage.js";

const marker = "#text=";

const hashOf = (text: string) => sha256(new TextEncoder().encode(text));

async function linkTo({ prompt, options, text, tokens }: WrittenText): Promise<string> {
  const url = new URL(queryOf(chosenModel()) || location.pathname, location.href);
  // One that was stopped is as long again.
  const all = { ...options, maxNewTokens: tokens };
  url.hash = marker + (await toFragment({ prompt, options: all, hash: await hashOf(text) }));
  return url.href;
}

async function copyLink(): Promise<void> {
  const written = lastWritten();
  if (!written) return;
  if (addressOf(chosenModel()) === "") {
    ui.shareStatus.textContent = "The model comes from files of this device: a link cannot name it.";
    return;
  }
  const link = await linkTo(written);
  try {
    await navigator.clipboard.writeText(link);
    ui.shareStatus.textContent = `Copied: a link of ${link.length} characters, which has the text before in it.`;
  } catch {
    // Pages of a host without TLS have no clipboard, and others can be refused it.
    location.hash = new URL(link).hash;
    ui.shareStatus.textContent = "This page may not use the clipboard. The link is in its address now.";
  }
}

/** Writes what the page's address has a link to, once there is a model, and says whether it is the same. */
async function replay(editor: Editor): Promise<void> {
  const passage = await fromFragment(location.hash.slice(marker.length));
  editor.replaceAll(passage.prompt);
  say("This link has a text that is written anew once the model is loaded.");
  await whenModel();
  editor.replaceAll(passage.prompt);
  const written = await write(atEnd, passage.options);
  if (!written) return;
  const isSame = (await hashOf(written.text)) === passage.hash;
  say(
    isSame
      ? `Identical to the linked text: ${written.tokens} tokens, checked by hash.`
      : "This is not the linked text: that was written by another model, or another release of this page.",
  );
}

/** Offers links to what was written last, and follows the one that the page was opened with. */
export function offerSharing(editor: Editor): void {
  ui.sharing.hidden = location.protocol === "file:";
  setEnabled(ui.share, false);
  onPress(ui.share, () => void copyLink());
  const [visit] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  if (!location.hash.startsWith(marker) || visit?.type === "reload") return;
  replay(editor).catch((error: unknown) => say(`The link of this page cannot be read: ${String(error)}.`));
}
