// Links to a text. Opening one shows the text. If the model's last run is still in it, the same model writes it
// again, and the page shows whether the result is the same.
import { sha256 } from "../../../src/model/sha256.js";
import { onPress } from "../../dom/buttons.js";
import { isOfFiles } from "../../models/model-address.js";
import { queryOf } from "../../models/named-model.js";
import type { Editor } from "../../document/editor.js";
import type { KeptText } from "../../document/kept-text.js";
import { asLines } from "../../document/pieces.js";
import type { Elements } from "../../dom/elements.js";
import type { Loading } from "../../models/loading.js";
import { whyInFull } from "../../language/why.js";
import type { PageState } from "../../state/page-state.js";
import { visitType } from "../../dom/visit.js";
import type { Writing, WrittenText } from "../../assistant/writing.js";
import type { GenerateOptions } from "../../../src/client/index.js";
import { textAround, fromFragment, stillContains, toFragment } from "../../library/shared-text.js";
import { phrase } from "../../language/editor.js";
import { setTranslatedText } from "../../language/keep-translated.js";

const marker = "#text=";

const hashOf = (text: string) => sha256(new TextEncoder().encode(text));

/** The link that was opened last in this tab. After a reload, the stored text is shown and not the link's. */
const followedKey = `gpt2-link ${location.pathname}`;

function isFollowed(): boolean {
  try {
    return sessionStorage.getItem(followedKey) === location.hash;
  } catch {
    return true; // without storage, as in a sandboxed frame, the link is not opened again on each reload
  }
}

function setFollowed(): void {
  try {
    sessionStorage.setItem(followedKey, location.hash);
  } catch {
    // There is no storage.
  }
}

/**
 * Starts to write to the clipboard before `coming` resolves, if the browser can: Safari allows it only during a
 * press.
 */
async function toClipboard(coming: Promise<string>): Promise<void> {
  if (typeof ClipboardItem === "undefined") return navigator.clipboard.writeText(await coming);
  const blob = coming.then((text) => new Blob([text], { type: "text/plain" }));
  await navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]);
}

export interface SharingSetting {
  ui: Pick<Elements, "sharing" | "share" | "shareStatus" | "menu">;
  state: PageState;
  loading: Loading;
  writing: Writing;
  options: { read: () => GenerateOptions | undefined; show: (options: GenerateOptions) => void };
  /** Stores the current text as it is, before another replaces it. */
  setAside: () => void;
  editor: Editor;
}

class Sharing {
  private readonly setting: SharingSetting;
  /** Counts opened links: only the last one is followed. */
  private latest = 0;

  constructor(setting: SharingSetting) {
    this.setting = setting;
  }

  /** The last run, if its text is still complete and a link can name its model. */
  private writtenAnew({ text }: KeptText): WrittenText | undefined {
    const last = this.setting.writing.lastWritten;
    return last && !isOfFiles(last.model) && stillContains(text, last) ? last : undefined;
  }

  /** A link to `kept` with the options `set`; `anew` is the run to repeat. */
  private async linkTo(kept: KeptText, anew: WrittenText | undefined, set: GenerateOptions): Promise<string> {
    const { state } = this.setting;
    const url = new URL(queryOf(anew?.model ?? state.chosen.peek()), location.href);
    const options = { ...set };
    // A run that was stopped is repeated to the same length.
    if (anew && !anew.hasEnded) options.maxNewTokens = anew.tokens;
    const hash = anew && (await hashOf(anew.text));
    const fields = anew ? anew.fields : state.fields.peek();
    const change = anew ? anew.change : state.change.peek();
    const passage = {
      ...{ ...textAround(kept, anew), options, hash },
      ...(fields && { fields }),
      ...(change.length > 0 && { change }),
    };
    url.hash = marker + (await toFragment(passage));
    return url.href;
  }

  async copyLink(): Promise<void> {
    const { ui, state, editor, options: panel } = this.setting;
    const { kept } = editor;
    const anew = this.writtenAnew(kept);
    if (!anew && isOfFiles(state.chosen.peek())) {
      setTranslatedText(ui.shareStatus, () => phrase("filesOfDevice"));
      return;
    }
    const set = anew?.options ?? panel.read();
    if (!set) {
      setTranslatedText(ui.shareStatus, () => ""); // the panel shows which value is refused
      return;
    }
    const coming = this.linkTo(kept, anew, set);
    const isCopied = await toClipboard(coming).then(
      () => true,
      () => false, // pages without TLS have no clipboard, and a browser can refuse it
    );
    const link = await coming;
    if (isCopied) {
      setTranslatedText(ui.shareStatus, () => phrase("linkCopied", { count: link.length }));
      return;
    }
    history.replaceState(null, "", link);
    setFollowed();
    setTranslatedText(ui.shareStatus, () => phrase("linkInAddress"));
  }

  /**
   * Opens the text that the page's address links to. If it contains a run, waits for the model, repeats the run, and
   * shows whether it is the same.
   */
  async openLink(): Promise<void> {
    const { state, loading, writing, options: panel, setAside, editor } = this.setting;
    const isWriting = () => state.activity.peek().kind === "writing";
    const number = ++this.latest;
    const {
      prompt,
      after,
      written,
      options,
      fields,
      change = [],
      hash,
    } = await fromFragment(location.hash.slice(marker.length));
    if (number !== this.latest) return;
    if (isWriting()) return state.say(() => phrase("busyForLink"));
    const place = prompt.length;
    setAside();
    editor.showOther({ text: prompt + after, caret: place, written }, fields);
    panel.show(options);
    state.change.value = change;
    if (hash === undefined) {
      setFollowed();
      return state.sayOfText(() => phrase("linkShown"));
    }
    state.say(() => phrase("linkAwaits"));
    await loading.whenReady();
    if (number !== this.latest) return;
    setFollowed(); // also if it is left: after a reload, it would replace what the visitor has written
    if (isWriting() || editor.text !== prompt + after) return state.say(() => phrase("linkLeft"));
    state.change.value = change; // a model that has loaded meanwhile has ended it
    const anew = await writing.write(() => ({ from: place, to: place }), options);
    if (!anew?.hasEnded) return; // the page shows why the run ended
    if ((await hashOf(anew.text)) !== hash) return state.sayOfText(() => phrase("notIdentical"));
    // If the visitor has typed in the meantime, nothing is compared.
    if (editor.text === prompt + asLines(anew.text) + after)
      state.sayOfText(() => phrase("identical", { count: anew.tokens }));
  }
}

/** Offers links to the text, and opens the link in the page's address. */
export function offerSharing(setting: SharingSetting): void {
  const { ui, state } = setting;
  const sharing = new Sharing(setting);
  if (location.protocol === "file:") {
    ui.sharing.hidden = true; // not removed: the bar looks its button up
    ui.menu.querySelector('[data-section="sharing"]')?.remove();
  }
  onPress(ui.share, () => {
    sharing.copyLink().catch((error: unknown) => {
      setTranslatedText(ui.shareStatus, () => phrase("noLink", { why: whyInFull(error) }));
    });
  });
  const follow = () => {
    if (!location.hash.startsWith(marker)) return;
    sharing
      .openLink()
      .catch((error: unknown) => state.say(() => phrase("badLink", { why: whyInFull(error) })));
  };
  addEventListener("hashchange", follow);
  const visit = visitType();
  if (visit === "back_forward" || (visit === "reload" && isFollowed())) return;
  follow();
}
