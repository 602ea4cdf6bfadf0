// The panel of engine and device: what runs here, on what, and how fast it could be.
import { explainEnvironment, listModels, storage } from "../../../src/client/index.js";
import { release } from "../../../src/shared/release.js";
import { plainButton, setEnabled } from "../../dom/buttons.js";
import { elements as ui } from "../../dom/elements.js";
import { chosenModel, currentModel, modelTraffic, onModelChange, showModel } from "../../models/loading.js";
import { phrase } from "../../language/device.js";
import { keepTold, put } from "../../language/told.js";
import { isAbort, messageOf } from "../../state/errors.js";
import { onSpeed } from "../../state/speed.js";
import { isWriting, onWriting } from "../../assistant/writing.js";
import { listOf } from "./environment.js";
import { measureSpeed } from "../../models/floor.js";
import { SelfTestPanel } from "./self-test/panel.js";
import {
  memorySentence,
  networkSentence,
  speedSentence,
  storageSentence,
  threadsSentence,
} from "./sentences.js";

const rows = ["engine", "threads", "memory", "storage", "network", "speed"] as const;
type Row = (typeof rows)[number];

/** Hosts that this page's own requests went to, beside its own; the worker asks for models. */
function otherHosts(): string[] {
  const hosts = performance
    .getEntriesByType("resource")
    .map(({ name }) => new URL(name))
    .filter(({ protocol, origin }) => protocol.startsWith("http") && origin !== location.origin)
    .map(({ host }) => host);
  return [...new Set(hosts)];
}

/** One for as long as the page is open. */
class Panel {
  private readonly values: Readonly<Record<Row, HTMLElement>>;
  private readonly measure = plainButton("", () => void this.measureNow());
  private readonly status = document.createElement("p");
  private readonly given = document.createElement("div");
  private measuring: AbortController | undefined;

  constructor(place: HTMLElement) {
    const list = document.createElement("dl");
    const value = (name: Row) => {
      const row = document.createElement("div");
      const term = document.createElement("dt");
      const definition = document.createElement("dd");
      put(term, () => phrase(`row.${name}`));
      definition.textContent = "–";
      row.append(term, definition);
      list.append(row);
      return definition;
    };
    this.values = Object.fromEntries(rows.map((name) => [name, value(name)])) as Record<Row, HTMLElement>;
    this.status.className = "quiet";
    this.status.role = "status";
    const buttons = document.createElement("div");
    buttons.className = "row";
    buttons.append(this.measure, this.status);
    const title = document.createElement("h2");
    put(title, () => phrase("given"));
    put(this.measure, () => phrase("measure"));
    const test = document.createElement("div");
    test.className = "self-test";
    const selfTest = new SelfTestPanel(test);
    place.replaceChildren(list, buttons, test, title, this.given);
    ui.device.addEventListener("toggle", () => {
      if (ui.device.open) return;
      this.measuring?.abort();
      selfTest.stop();
    });
    onModelChange(() => {
      this.measuring?.abort();
      put(this.values.speed, () => "–");
      this.refresh();
    });
    onWriting(() => {
      if (isWriting()) this.measuring?.abort(); // one would slow the other
      this.showRest();
    });
    onSpeed((sentence) => put(this.values.speed, sentence));
  }

  /** Shows what is so now, or why that is not known. */
  refresh(): void {
    this.showRest();
    this.read().catch((error: unknown) => {
      put(this.status, () => phrase("notRead", { why: messageOf(error) }));
    });
  }

  private async read(): Promise<void> {
    const environment = await explainEnvironment();
    showModel(); // threads may be others than when it was said above
    this.given.replaceChildren(listOf(environment));
    const query = new URLSearchParams(location.search);
    const model = currentModel();
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
    const host = chosenModel().elsewhere ?? (location.host || phrase("thisFile"));
    this.values.network.textContent = networkSentence(modelTraffic(), host, otherHosts());
    const [stored, models] = await Promise.all([storage(), listModels()]);
    this.values.storage.textContent = storageSentence(stored, models);
  }

  private showRest(): void {
    setEnabled(this.measure, this.measuring === undefined && !isWriting() && currentModel() !== undefined);
  }

  private async measureNow(): Promise<void> {
    const model = currentModel();
    if (!model) return;
    const { signal } = (this.measuring = new AbortController());
    this.showRest();
    put(this.status, () => phrase("measuring"));
    try {
      const speed = await measureSpeed(model, signal);
      put(this.values.speed, () => speedSentence(speed));
      put(this.status, () => phrase("measured"));
    } catch (error) {
      const wasStopped = signal.aborted || isAbort(error);
      put(this.status, () =>
        wasStopped ? phrase("interrupted") : phrase("notMeasured", { why: messageOf(error) }),
      );
    } finally {
      this.measuring = undefined;
      this.showRest();
    }
  }
}

let panel: Panel | undefined;

/** Shows what is so now in `place`, and keeps it up to date. */
export function showDevice(place: HTMLElement): void {
  const shown = (panel ??= new Panel(place));
  keepTold(shown, () => shown.refresh());
}
