// The folder that a conversion writes. It gets its name only when it is complete. Until then its files are in OUT.partial,
// which a later run of the same conversion continues.
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, join, resolve } from "node:path";
import { tokenizerFiles, tokenizerSettings } from "../shared/file-names.mjs";
import { CommandError, say, UsageError } from "./messages.js";

const modelFiles = [
  "config.json",
  ...tokenizerFiles,
  ...tokenizerSettings,
  "generation_config.json",
  "weights.json",
  "model.safetensors",
  ".gitattributes",
];
const isWeights = (name: string) => /^model\.safetensors(\.\d{3,})?$/.test(name);

/** Throws unless `folder` is empty or holds one model and nothing else. */
function checkReplaceable(folder: string): void {
  const names = readdirSync(folder);
  const refuse = (found: string): never => {
    throw new CommandError(`${folder} ${found}: --force replaces only a model folder`);
  };
  const other = names.find(
    (name) => !(modelFiles.includes(name) || isWeights(name)) || !statSync(join(folder, name)).isFile(),
  );
  if (other !== undefined) refuse(`has "${other}", which does not belong to a model`);
  if (names.length > 0 && !(names.includes("config.json") && names.some(isWeights)))
    refuse(`has no ${names.includes("config.json") ? "weights" : "config.json"}`);
}

/** Whether the process `pid` runs. */
function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

interface State {
  /** The conversion; two with the same key write the same bytes. */
  key: string | undefined;
  pid: number;
}

export class OutputFolder {
  readonly out: string;
  readonly partial: string;
  /** The weights so far, in the order of their arrival. */
  readonly weights: string;
  private readonly isReplaced: boolean;
  private readonly state: string;

  /** Throws if the folder `out` cannot be written: without `force`, nothing may have its name. */
  constructor(out: string, force: boolean, inputs: readonly string[]) {
    this.out = resolve(out);
    this.partial = `${this.out}.partial`;
    this.weights = join(this.partial, "weights");
    this.state = join(this.partial, "state.json");
    if (out === "" || basename(this.out) === "" || this.out === process.cwd())
      throw new UsageError(`OUT is "${out}", expected the name of a new folder`);
    this.isReplaced = lstatSync(this.out, { throwIfNoEntry: false }) !== undefined;
    if (!this.isReplaced) return;
    if (!lstatSync(this.out).isDirectory())
      throw new CommandError(`${this.out} is not a folder: choose another OUT`);
    if (inputs.map((path) => realpathSync(path)).includes(realpathSync(this.out)))
      throw new CommandError(`${this.out} is the input: choose another OUT`);
    if (!force) throw new CommandError(`${this.out} already exists: --force replaces it`);
    checkReplaceable(this.out);
  }

  /** Begins the conversion `key`. Returns how many bytes of the weights an earlier run has left. */
  begin(key: string | undefined): number {
    const earlier = this.readState();
    if (earlier && earlier.pid !== process.pid && runs(earlier.pid))
      throw new CommandError(`another run is writing ${this.partial}: wait until it ends`);
    const resumes = key !== undefined && earlier?.key === key && existsSync(this.weights);
    if (!resumes) rmSync(this.partial, { recursive: true, force: true });
    mkdirSync(this.partial, { recursive: true });
    writeFileSync(this.state, JSON.stringify({ key, pid: process.pid } satisfies State));
    if (!resumes) return 0;
    for (const name of readdirSync(this.partial))
      if (!["weights", "state.json"].includes(name)) rmSync(join(this.partial, name));
    return statSync(this.weights).size;
  }

  /** Gives the complete folder its name. */
  commit(): void {
    if (this.isReplaced) checkReplaceable(this.out); // again: the conversion may have taken hours
    rmSync(this.weights);
    rmSync(this.state);
    const old = `${this.partial}.old`;
    if (this.isReplaced) renameSync(this.out, old);
    renameSync(this.partial, this.out);
    rmSync(old, { recursive: true, force: true });
  }

  /** Ends a conversion that has failed. If `isPassing`, another run may continue it. */
  abandon(isPassing: boolean): void {
    const state = this.readState();
    if (state?.pid !== process.pid) return; // it is another run's
    const isKept = isPassing && state.key !== undefined && existsSync(this.weights);
    if (isKept) say(`${this.partial} keeps what was converted so far: run the same command again to resume`);
    else rmSync(this.partial, { recursive: true, force: true });
  }

  /** What an earlier run has written. Throws if the folder is not of this program. */
  private readState(): State | undefined {
    if (!existsSync(this.partial)) return undefined;
    try {
      const { key, pid } = JSON.parse(readFileSync(this.state, "utf8")) as State;
      return { key: typeof key === "string" ? key : undefined, pid };
    } catch {
      if (readdirSync(this.partial).length === 0) return undefined;
      throw new CommandError(`${this.partial} is not a conversion of this program: remove it`);
    }
  }
}
