// Links to a text: whoever opens one gets all of it. What the model wrote last is written anew by the same model, where it still
// stands there, and its reader is told whether it is the same.
import { sha256 } from "../../../src/loader/sha256.js";
import { onPress } from "../../dom/buttons.js";
import { isOfFiles, queryOf } from "../../models/chosen-model.js";
import type { Editor } from "../../document/editor.js";
import type { KeptText } from "../../document/kept-text.js";
import { asLines } from "../../document/pieces.js";
import { elements as ui } from "../../dom/elements.js";
import { chosenModel, whenModel } from "../../models/loading.js";
import { say } from "../../state/messages.js";
import { messageOf } from "../../state/errors.js";
import { options as panel } from "../options/options.js";
import { setAside } from "../../library/tab.js";
import { visitType } from "../../dom/visit.js";
import { isWriting, lastWritten, write, type WrittenText } from "../../assistant/writing.js";
import { around, fromFragment, stillHas, toFragment } from "../../library/passage.js";
import { phrase } from "../../language/editor.js";
import { put } from "../../language/told.js";

const marker = "#text=";

const hashOf = (text: string) => sha256(new TextEncoder().encode(text));

/** The fragment that was followed last in this tab: a reload of the page brings its text back, and not the link. */
const followedKey = `gpt2-link ${location.pathname}`;

function isFollowed(): boolean {
  try {
    return sessionStorage.getItem(followedKey) === location.hash;
  } catch {
    return true; // there is no storage, as in a sandboxed frame: better once than again and again
  }
}

function setFollowed(): void {
  try {
    sessionStorage.setItem(followedKey, location.hash);
  } catch {
    // As above.
  }
}

/** What was written last, where all of it stands in the text still, and a link can name its model. */
function writtenAnew({ text }: KeptText): WrittenText | undefined {
  const last = lastWritten();
  return last && !isOfFiles(last.model) && stillHas(text, last) ? last : undefined;
}

/** A link to `kept`, with `anew` to be written anew. */
async function linkTo(kept: KeptText, anew: WrittenText | undefined): Promise<string> {
  const url = new URL(queryOf(anew?.model ?? chosenModel()), location.href);
  const options = { ...(anew?.options ?? panel.peek()) };
  // One that was stopped is written to the same length.
  if (anew && !anew.hasEnded) options.maxNewTokens = anew.tokens;
  const hash = anew && (await hashOf(anew.text));
  url.hash = marker + (await toFragment({ ...around(kept, anew), options, hash }));
  return url.href;
}

/** Begins before `coming` is there where the browser can: Safari lets a page copy only as a button is pressed. */
async function toClipboard(coming: Promise<string>): Promise<void> {
  if (typeof ClipboardItem === "undefined") return navigator.clipboard.writeText(await coming);
  const blob = coming.then((text) => new Blob([text], { type: "text/plain" }));
  await navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]);
}

async function copyLink({ kept }: Editor): Promise<void> {
  const anew = writtenAnew(kept);
  if (!anew && isOfFiles(chosenModel())) {
    put(ui.shareStatus, () => phrase("filesOfDevice"));
    return;
  }
  const coming = linkTo(kept, anew);
  const isCopied = await toClipboard(coming).then(
    () => true,
    () => false, // pages of a host without TLS have no clipboard, and others can be refused it
  );
  const link = await coming;
  if (isCopied) {
    put(ui.shareStatus, () => phrase("linkCopied", { count: link.length }));
    return;
  }
  history.replaceState(null, "", link);
  setFollowed();
  put(ui.shareStatus, () => phrase("linkInAddress"));
}

/** Which of the links that were opened is followed: the last. */
let latest = 0;

/**
 * Shows what the page's address has a link to. Where the model wrote last, it writes anew, once there is a model, and it is
 * said whether that is the same.
 */
async function openLink(editor: Editor): Promise<void> {
  const number = ++latest;
  const { prompt, after, written, options, hash } = await fromFragment(location.hash.slice(marker.length));
  if (number !== latest) return;
  if (isWriting()) return say(() => phrase("busyForLink"));
  const place = prompt.length;
  setAside();
  editor.show({ text: prompt + after, caret: place, written });
  panel.show(options);
  if (hash === undefined) {
    setFollowed();
    return say(() => phrase("linkShown"));
  }
  say(() => phrase("linkAwaits"));
  await whenModel();
  if (number !== latest || isWriting()) return;
  if (editor.text !== prompt + after) {
    return say(() => phrase("linkLeft"));
  }
  setFollowed();
  const anew = await write(() => ({ from: place, to: place }), options);
  if (!anew?.hasEnded) return; // the page says what ended it
  if ((await hashOf(anew.text)) !== hash) return say(() => phrase("notIdentical"));
  // Who types meanwhile has another text, which nothing is said of.
  if (editor.text === prompt + asLines(anew.text) + after)
    say(() => phrase("identical", { count: anew.tokens }));
}

/** Offers links to the text, and follows the one that the page was opened with. */
export function offerSharing(editor: Editor): void {
  ui.sharing.hidden = location.protocol === "file:";
  onPress(ui.share, () => {
    copyLink(editor).catch((error: unknown) => {
      put(ui.shareStatus, () => phrase("noLink", { why: messageOf(error) }));
    });
  });
  const follow = () => {
    if (!location.hash.startsWith(marker)) return;
    openLink(editor).catch((error: unknown) => say(() => phrase("badLink", { why: messageOf(error) })));
  };
  addEventListener("hashchange", follow);
  const visit = visitType();
  if (visit === "back_forward" || (visit === "reload" && isFollowed())) return;
  follow();
}
