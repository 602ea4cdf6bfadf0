// State that several parts of the page share, as signals. app.ts creates it; nothing here uses the DOM or a model.
import { computed, signal, type ReadonlySignal, type Signal } from "@preact/signals-core";
import type { Change, LoadProgress, Model, ModelSource } from "../../src/client/index.js";
import type { ContextFields } from "./context-fields.js";

/** A model of files of this device, one file or a folder, as it is stored with the text. */
export interface DeviceModel {
  name: string;
  isFile: boolean;
}

/** The model that the page shows or is about to load. */
export interface ChosenModel {
  /** The argument of loadModel. */
  source: ModelSource;
  /** The model's name for the visitor. */
  name: string;
  /** The format to convert float weights to; undefined means 8 bits. */
  weights?: "q4" | undefined;
  /** The model's folder on this host, which can be saved as one file; undefined for other models. */
  folder?: string | undefined;
  /** The host that the model would be fetched from, if it is another one: the page asks first. */
  elsewhere?: string | undefined;
  /** Whether it is the demo, which the page's service worker keeps with the page. */
  isOwn?: boolean | undefined;
  /** Why the model cannot be loaded, as a clause. */
  problem?: (() => string) | undefined;
}

/** Bytes of a model's weights by origin. */
export interface Traffic {
  network: number;
  cache: number;
}

/** Whether the page has its model. */
export type ModelState =
  /** The first request that needs a model loads it. */
  | { readonly kind: "none" }
  /** The page's address names a model of another host, which the visitor has not confirmed. */
  | { readonly kind: "unconfirmed"; readonly ask: () => void }
  | { readonly kind: "loading"; readonly coming: Promise<Model | undefined> }
  | { readonly kind: "ready"; readonly model: Model; readonly traffic: Traffic };

/** What the model is doing for the visitor. */
export type Activity =
  | { readonly kind: "idle" }
  /** `stop` keeps the text so far. It resolves when the run has ended and another may begin. */
  | { readonly kind: "writing"; readonly stop: () => Promise<void> };

/** A model that is loading or waits to be used. Only a loading one has progress: `latest`, which is missing just after the start. */
export type ComingModel =
  | { readonly kind: "none"; readonly latest?: undefined }
  | { readonly kind: "loading"; readonly stage: () => string; readonly latest?: LoadProgress }
  /** It has loaded while another one writes, and waits for the visitor. */
  | {
      readonly kind: "waiting";
      readonly sentence: () => string;
      readonly use: () => void;
      readonly latest?: undefined;
    };

/** A button beside an error that helps with it. */
export interface Repair {
  label: () => string;
  run: () => void;
}

/** An error; `canReset` offers the page without the settings in its address, and the details show what was thrown. */
export interface Problem {
  /** `why` is in plain words. */
  sentence: (why: string) => string;
  repair: Repair | undefined;
  canReset: boolean;
  error: unknown;
}

/** The sections of the side panel, by the ids of their elements. */
export type PanelSection = "library" | "options" | "sharing" | "saving-texts" | "device";

const nothing = () => "";

export class PageState {
  /** The model that the page began with. */
  readonly first: ChosenModel;
  readonly chosen: Signal<ChosenModel>;
  readonly model: Signal<ModelState> = signal<ModelState>({ kind: "none" });
  readonly activity: Signal<Activity> = signal<Activity>({ kind: "idle" });
  /** Changes with each change of the text, and when the editor is ready. */
  readonly text: Signal<number> = signal(0);
  /** The fields that the model reads besides the text; undefined if both are empty. */
  readonly fields: Signal<ContextFields | undefined> = signal<ContextFields | undefined>(undefined);
  /** What the visitor has changed in the model: parts that are switched off. */
  readonly change: Signal<readonly Change[]> = signal<readonly Change[]>([]);
  /** At first, the page reserves room for the progress. */
  readonly coming: Signal<ComingModel> = signal<ComingModel>({ kind: "loading", stage: nothing });
  /** What was said last. `text` is the state of the text that it describes; undefined if it stays true. */
  private readonly said = signal<{ sentence: () => string; text?: number }>({ sentence: nothing });
  /** The status of the writing, in one line. */
  readonly status: ReadonlySignal<() => string> = computed(() => {
    const { sentence, text } = this.said.value;
    return text === undefined || text === this.text.value ? sentence : nothing;
  });
  /** Dropped files that are no model. */
  readonly dropped: Signal<readonly File[]> = signal<readonly File[]>([]);
  readonly problem: Signal<Problem | undefined> = signal<Problem | undefined>(undefined);
  /** The open section of the side panel; undefined if the panel is closed. */
  readonly panel: Signal<PanelSection | undefined> = signal<PanelSection | undefined>(undefined);
  /** The name of the preset in use, as the page shows it. */
  readonly preset: Signal<() => string> = signal(() => "");
  /** The speed of the current or last run. */
  readonly tokensPerSecond: Signal<number | undefined> = signal<number | undefined>(undefined);
  /** Bytes of weights that the last finished run read per second; models/expectation.ts estimates other models' speed from it. */
  readonly weightsPerSecond: Signal<number | undefined> = signal<number | undefined>(undefined);
  readonly firstTokenMs: Signal<number | undefined> = signal<number | undefined>(undefined);

  /** The loaded model, if any. */
  readonly loaded: ReadonlySignal<Model | undefined> = computed(() => {
    const state = this.model.value;
    return state.kind === "ready" ? state.model : undefined;
  });

  constructor(first: ChosenModel) {
    this.first = first;
    this.chosen = signal(first);
  }

  /** Call this when no model is loading or waiting any more. */
  endLoading(): void {
    this.coming.value = { kind: "none" };
  }

  get isWriting(): boolean {
    return this.activity.value.kind === "writing";
  }

  /** Shows a status; without an argument, clears it. */
  say(sentence = nothing): void {
    this.said.value = { sentence };
  }

  /** Shows a status that describes the text as it is now, until it changes. */
  sayOfText(sentence: () => string): void {
    this.said.value = { sentence, text: this.text.peek() };
  }

  showError(sentence: Problem["sentence"], error?: unknown, repair?: Repair, canReset = false): void {
    this.problem.value = { sentence, repair, canReset, error };
  }

  hideError(): void {
    this.problem.value = undefined;
  }
}

/** Calls `listener` at each later change of `of`. Returns a function that ends that. */
export function onChange<T>(of: ReadonlySignal<T>, listener: (value: T) => void): () => void {
  let isFirst = true;
  return of.subscribe((value) => {
    if (!isFirst) listener(value);
    isFirst = false;
  });
}
