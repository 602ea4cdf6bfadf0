// What several parts of the page share, as signals. app.ts makes one; nothing here touches the document or a model.
import { computed, signal, type ReadonlySignal, type Signal } from "@preact/signals-core";
import type { LoadProgress, Model, ModelSource } from "../../src/client/index.js";

/** The model that the page shows, or is to show next. */
export interface ChosenModel {
  /** What loadModel takes. */
  source: ModelSource;
  /** As its user knows it. */
  name: string;
  /** What a model of floats becomes; undefined: 8 bits. */
  weights?: "q4" | undefined;
  /** The folder on this host that it is, which can be saved as one file; undefined where it is something else. */
  folder?: string | undefined;
  /** The host that it would be fetched from, if that is not the page's own: the page asks its reader first. */
  elsewhere?: string | undefined;
  /** Why it cannot be loaded, as a clause. */
  problem?: (() => string) | undefined;
}

/** Bytes of a model's weights, by where they came from. */
export interface Traffic {
  network: number;
  cache: number;
}

/** Whether the page has its model. */
export type ModelState =
  /** The first request that needs one loads it. */
  | { readonly kind: "none" }
  /** The page's address names a model of another host, and its reader has not agreed yet. */
  | { readonly kind: "unconfirmed"; readonly ask: () => void }
  | { readonly kind: "loading"; readonly coming: Promise<Model | undefined> }
  | { readonly kind: "ready"; readonly model: Model; readonly traffic: Traffic };

/** What the model does for the visitor. */
export type Activity =
  | { readonly kind: "idle" }
  /** `stop` keeps what has come so far. It resolves when nothing more comes, and another text may begin. */
  | { readonly kind: "writing"; readonly stop: () => Promise<void> };

/** How far the loading that began last has come. */
export interface LoadingShown {
  stage: () => string;
  /** undefined: it has just begun. */
  latest?: LoadProgress;
}

/** A model that has come while another one writes, and waits for the visitor. */
export interface Arrival {
  sentence: () => string;
  use: () => void;
}

/** What a button beside an error does about it. */
export interface Repair {
  label: () => string;
  run: () => void;
}

/** An error; `canReset` offers the page without the settings in its address. */
export interface Problem {
  sentence: () => string;
  repair: Repair | undefined;
  canReset: boolean;
}

/** The sections of the side panel, by the ids of their elements. */
export const panelSections = ["options", "sharing", "saving-texts", "device"] as const;
export type PanelSection = (typeof panelSections)[number];

export class PageState {
  readonly chosen: Signal<ChosenModel>;
  readonly model: Signal<ModelState> = signal<ModelState>({ kind: "none" });
  readonly activity: Signal<Activity> = signal<Activity>({ kind: "idle" });
  /** Another one after each change of the text, and when the editor has come. */
  readonly text: Signal<number> = signal(0);
  /** undefined: nothing is on its way. At first the page keeps room for it. */
  readonly loading: Signal<LoadingShown | undefined> = signal<LoadingShown | undefined>({ stage: () => "" });
  readonly arrival: Signal<Arrival | undefined> = signal<Arrival | undefined>(undefined);
  /** How the writing goes, in one line. */
  readonly status: Signal<() => string> = signal(() => "");
  readonly problem: Signal<Problem | undefined> = signal<Problem | undefined>(undefined);
  /** The section that the side panel was opened at; undefined: it is closed. */
  readonly panel: Signal<PanelSection | undefined> = signal<PanelSection | undefined>(undefined);
  /** The name of the preset that is set, as the page shows it. */
  readonly preset: Signal<() => string> = signal(() => "");
  /** Of the text that is written, or was written last. */
  readonly tokensPerSecond: Signal<number | undefined> = signal<number | undefined>(undefined);
  readonly firstTokenMs: Signal<number | undefined> = signal<number | undefined>(undefined);

  /** The model that is loaded, if one is. */
  readonly loaded: ReadonlySignal<Model | undefined> = computed(() => {
    const state = this.model.value;
    return state.kind === "ready" ? state.model : undefined;
  });

  constructor(first: ChosenModel) {
    this.chosen = signal(first);
  }

  get isWriting(): boolean {
    return this.activity.value.kind === "writing";
  }

  /** Says how the writing goes; without a sentence: nothing. */
  say(sentence = () => ""): void {
    this.status.value = sentence;
  }

  showError(sentence: () => string, repair?: Repair, { canReset = false } = {}): void {
    this.problem.value = { sentence, repair, canReset };
  }

  hideError(): void {
    this.problem.value = undefined;
  }
}

/** Calls `listener` at each change of `of` from now on, until what it gives is called. */
export function onChange<T>(of: ReadonlySignal<T>, listener: (value: T) => void): () => void {
  let isFirst = true;
  return of.subscribe((value) => {
    if (!isFirst) listener(value);
    isFirst = false;
  });
}
