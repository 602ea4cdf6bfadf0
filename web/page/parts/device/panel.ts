// The panel "Engine and device": what runs here, on what, and how fast.
import { explainEnvironment, listModels, storage } from "../../../src/client/index.js";
import { release } from "../../../src/shared/release.js";
import type { Elements } from "../../dom/elements.js";
import { make } from "../../dom/make.js";
import { phrase } from "../../language/device.js";
import { formatRate } from "../../language/quantities.js";
import { keepTranslated, setTranslatedText } from "../../language/keep-translated.js";
import { whyInFull } from "../../language/why.js";
import { onChange, type PageState, type Traffic } from "../../state/page-state.js";
import { listOf } from "./environment.js";
import { memorySentence, networkSentence, storageSentence, threadsSentence } from "./sentences.js";

const rows = ["engine", "threads", "memory", "storage", "network", "speed"] as const;
type Row = (typeof rows)[number];

/** The other hosts that this page itself has contacted. The worker reports those of the models. */
function otherHosts(): string[] {
  const hosts = performance
    .getEntriesByType("resource")
    .map(({ name }) => new URL(name))
    .filter(({ protocol, origin }) => protocol.startsWith("http") && origin !== location.origin)
    .map(({ host }) => host);
  return [...new Set(hosts)];
}

/** Created once and kept as long as the page is open. */
export class Panel {
  private readonly values: Readonly<Record<Row, HTMLElement>>;
  private readonly status = make("p", { className: "quiet", role: "status" });
  private readonly given = make("div");

  private readonly state: PageState;
  private readonly showModel: () => void;

  constructor({ devicePanel }: Pick<Elements, "devicePanel">, state: PageState, showModel: () => void) {
    this.state = state;
    this.showModel = showModel;
    const list = make("dl");
    const value = (name: Row) => {
      const term = make("dt");
      const definition = make("dd", {}, "–");
      setTranslatedText(term, () => phrase(`row.${name}`));
      list.append(make("div", {}, term, definition));
      return definition;
    };
    this.values = Object.fromEntries(rows.map((name) => [name, value(name)])) as Record<Row, HTMLElement>;
    const title = make("h2");
    setTranslatedText(title, () => phrase("given"));
    devicePanel.replaceChildren(list, this.status, title, this.given);
    onChange(state.loaded, () => {
      setTranslatedText(this.values.speed, () => "–");
      this.refresh();
    });
    state.tokensPerSecond.subscribe((rate) => {
      if (rate !== undefined) setTranslatedText(this.values.speed, () => formatRate(rate));
    });
  }

  /** Shows the current values, and updates them when the language changes. */
  show(): void {
    keepTranslated(this, () => this.refresh());
  }

  /** Shows the current values, or why they are unknown. */
  private refresh(): void {
    this.read().catch((error: unknown) => {
      setTranslatedText(this.status, () => phrase("notRead", { why: whyInFull(error) }));
    });
  }

  private async read(): Promise<void> {
    const environment = await explainEnvironment();
    this.showModel(); // the number of threads may have changed since the line was shown
    this.given.replaceChildren(listOf(environment));
    const query = new URLSearchParams(location.search);
    const model = this.state.loaded.peek();
    const info = model?.info;
    if (info) {
      const isForced = query.has("threads") || query.has("variant");
      const cores = (navigator as Partial<Navigator>).hardwareConcurrency;
      this.values.engine.textContent = phrase("engine", { variant: info.variant, release });
      this.values.threads.textContent = threadsSentence({ info, environment, cores, isForced });
      this.values.memory.textContent = memorySentence(info);
    } else {
      for (const row of ["engine", "threads", "memory"] as const)
        this.values[row].textContent = phrase("noModel");
    }
    const host = this.state.chosen.peek().elsewhere ?? (location.host || phrase("thisFile"));
    this.values.network.textContent = networkSentence(this.traffic, host, otherHosts());
    const [stored, models] = await Promise.all([storage(), listModels()]);
    this.values.storage.textContent = storageSentence(stored, models);
  }

  private get traffic(): Traffic {
    const state = this.state.model.peek();
    return state.kind === "ready" ? state.traffic : { network: 0, cache: 0 };
  }
}
