// Shows the facts about the model and its speed.
import { effect } from "@preact/signals-core";
import type { Elements } from "../../dom/elements.js";
import { phrase } from "../../language/models.js";
import { formatLarge, formatMs, formatRate } from "../../language/quantities.js";
import { keepTranslated, setTranslatedText } from "../../language/keep-translated.js";
import { onChange, type PageState } from "../../state/page-state.js";

/** What shows the facts about the model. */
type ModelElements = Pick<Elements, "engine" | "model" | "notice">;

/** Shows the facts about the model, which can change while it works, for example after a thread is lost. */
export function showModel(ui: ModelElements, { loaded }: PageState): void {
  const model = loaded.peek();
  if (!model) return;
  const { info } = model;
  ui.engine.textContent = phrase("engine", { variant: info.variant, count: info.threads });
  const count = phrase("count", { value: formatLarge(info.parameters) });
  ui.model.textContent = phrase("model", { count, weights: info.weights });
  const unstored = info.notStored && phrase("notStored", { why: info.notStored });
  const notices = [info.notice, unstored, ...info.warnings].filter((text) => text !== null);
  ui.notice.textContent = notices.join(" ");
  ui.notice.hidden = notices.length === 0;
}

export function showFacts(
  ui: ModelElements & Pick<Elements, "speed" | "firstToken">,
  state: PageState,
): void {
  keepTranslated(ui.model, () => showModel(ui, state));
  effect(() => {
    if (state.loaded.value && !state.isWriting) showModel(ui, state);
  });
  onChange(state.tokensPerSecond, (rate) =>
    setTranslatedText(ui.speed, () => (rate === undefined ? "" : formatRate(rate))),
  );
  onChange(state.firstTokenMs, (ms) =>
    setTranslatedText(ui.firstToken, () => (ms === undefined ? "" : formatMs(ms))),
  );
}
