// Links to a text: whoever opens one gets the very same, written anew by the same model, and is told so.
import { sha256 } from "../../src/loader/sha256.js";
import { onPress, setEnabled } from "../buttons.js";
import { isOfFiles, queryOf } from "../chosen-model.js";
import type { Editor } from "../editor/editor.js";
import { elements as ui } from "../elements.js";
import { whenModel } from "../loading.js";
import { messageOf, say } from "../messages.js";
import { visitType } from "../visit.js";
import { atEnd, isWriting, lastWritten, write, type WrittenText } from "../writing.js";
import { fromFragment, toFragment } from "./passage.js";
import { phrase } from "../language/editor.js";

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

async function linkTo({ model, prompt, options, text, tokens, hasEnded }: WrittenText): Promise<string> {
  const url = new URL(queryOf(model), location.href);
  // One that was stopped is written to the same length.
  const all = hasEnded ? options : { ...options, maxNewTokens: tokens };
  url.hash = marker + (await toFragment({ prompt, options: all, hash: await hashOf(text) }));
  return url.href;
}

/** Begins before `coming` is there where the browser can: Safari lets a page copy only as a button is pressed. */
async function toClipboard(coming: Promise<string>): Promise<void> {
  if (typeof ClipboardItem === "undefined") return navigator.clipboard.writeText(await coming);
  const blob = coming.then((text) => new Blob([text], { type: "text/plain" }));
  await navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]);
}

async function copyLink(): Promise<void> {
  const written = lastWritten();
  if (!written) return;
  if (isOfFiles(written.model)) {
    ui.shareStatus.textContent = phrase("filesOfDevice");
    return;
  }
  const coming = linkTo(written);
  const isCopied = await toClipboard(coming).then(
    () => true,
    () => false, // pages of a host without TLS have no clipboard, and others can be refused it
  );
  const link = await coming;
  if (isCopied) {
    ui.shareStatus.textContent = phrase("linkCopied", { count: link.length });
    return;
  }
  history.replaceState(null, "", link);
  setFollowed();
  ui.shareStatus.textContent = phrase("linkInAddress");
}

/** Which of the links that were opened is followed: the last. */
let latest = 0;

/** Writes what the page's address has a link to, once there is a model, and says whether it is the same. */
async function replay(editor: Editor): Promise<void> {
  const number = ++latest;
  const passage = await fromFragment(location.hash.slice(marker.length));
  if (number !== latest) return;
  if (isWriting()) return say(phrase("busyForLink"));
  editor.replaceAll(passage.prompt);
  say(phrase("linkAwaits"));
  await whenModel();
  if (number !== latest || isWriting()) return;
  if (editor.text !== passage.prompt) {
    return say(phrase("linkLeft"));
  }
  setFollowed();
  const written = await write(atEnd, passage.options);
  if (!written?.hasEnded) return; // the page says what ended it
  const isSame = (await hashOf(written.text)) === passage.hash;
  say(isSame ? phrase("identical", { count: written.tokens }) : phrase("notIdentical"));
}

/** Offers links to what was written last, and follows the one that the page was opened with. */
export function offerSharing(editor: Editor): void {
  ui.sharing.hidden = location.protocol === "file:";
  setEnabled(ui.share, false);
  onPress(ui.share, () => {
    copyLink().catch((error: unknown) => {
      ui.shareStatus.textContent = phrase("noLink", { why: messageOf(error) });
    });
  });
  const follow = () => {
    if (!location.hash.startsWith(marker)) return;
    replay(editor).catch((error: unknown) => say(phrase("badLink", { why: messageOf(error) })));
  };
  addEventListener("hashchange", follow);
  const visit = visitType();
  if (visit === "back_forward" || (visit === "reload" && isFollowed())) return;
  follow();
}
