// A model on a hub that serves files like Hugging Face: huggingface.co/docs/hub, "resolve".
import { UrlSource, type ModelSource, type OpenFile, type OpenOptions } from "./model-source.js";
import { readWhole } from "./read-text.js";
import { steadyFetch, type RetryOptions } from "./steady-fetch.js";
import { LoadError } from "../../shared/errors.js";
import { problemOfFileName } from "../../shared/file-names.mjs";
import { apiAddress, filesAddress } from "./hub-address.js";
import { usualHub, type HubRequest } from "../../shared/protocol.js";

/** The hub's own headers, which pages may read. */
const commitHeader = "x-repo-commit";
const errorHeader = "x-error-code";

/** What messages advise a program to pass. */
export const tokenAdvice = 'an access token, as in headers: { Authorization: "Bearer hf_…" }';

/** The id as the user would write it. Models of other hubs have an address as their id. */
export function hubId({ hub, id, revision }: HubRequest): string {
  return `${hub === usualHub ? "hf:" : hub}${id}@${revision}`;
}

export class HubSource implements ModelSource {
  /** The commit of the first file: a branch may move while its files are fetched. */
  private commit: string | undefined;
  private readonly askPatiently: typeof fetch;

  readonly id: string;
  private readonly where: HubRequest;
  private readonly ask: typeof fetch;

  constructor(where: HubRequest, ask: typeof fetch, patience: RetryOptions) {
    this.id = hubId(where);
    this.where = where;
    this.ask = ask;

    this.askPatiently = steadyFetch((input, init) => this.askOnce(input, init), patience, "passing");
  }

  /** Id and revision, for messages. */
  private get name(): string {
    const { id, revision } = this.where;
    return revision === "main" ? id : `${id}@${revision}`;
  }

  async open(name: string, options: OpenOptions): Promise<OpenFile> {
    const folder = filesAddress(this.where, this.commit ?? this.where.revision);
    const ask: typeof fetch = async (input, init) => {
      const response = await this.askPatiently(input, init);
      if (!response.ok) throw this.refusal(name, response);
      return response;
    };
    try {
      return await new UrlSource(folder, ask).open(name, options);
    } catch (error) {
      const { insteadOf } = this.where;
      if (!(error instanceof LoadError) || insteadOf === undefined) throw error;
      throw new LoadError(error.code, `${error.message}; there is no folder ${insteadOf} either`);
    }
  }

  /** The current commit of the revision. */
  async version(signal: AbortSignal): Promise<string | undefined> {
    const { sha } = await this.askAbout(this.where.revision, signal);
    return typeof sha === "string" ? sha : undefined;
  }

  async list(signal: AbortSignal): Promise<string[] | undefined> {
    const { siblings } = await this.askAbout(this.commit ?? this.where.revision, signal);
    if (!Array.isArray(siblings)) return undefined;
    const names = siblings.map((file) => (Object(file) as { rfilename?: unknown }).rfilename);
    return names.filter(
      (name): name is string => typeof name === "string" && problemOfFileName(name) === undefined,
    );
  }

  /** The hub's description of the model, requested once without retries; {} if it does not answer. */
  private async askAbout(
    revision: string,
    signal: AbortSignal,
  ): Promise<{ sha?: unknown; siblings?: unknown }> {
    try {
      const response = await this.ask(apiAddress(this.where, revision), { signal });
      const stream = response.body ?? new Blob([]).stream();
      const answer = await readWhole({ size: undefined, stream }, "the hub's answer", signal);
      return Object(JSON.parse(new TextDecoder().decode(answer))) as { sha?: unknown; siblings?: unknown };
    } catch {
      signal.throwIfAborted();
      return {};
    }
  }

  private async askOnce(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
    const response = await this.ask(input, init);
    const isElsewhere = response.url !== "" && !response.url.startsWith(this.where.hub);
    // The signed address has expired. The hub signs a new one for the next request.
    if (response.status === 403 && isElsewhere) throw new Error("the host of the hub's files answered 403");
    this.checkCommit(response);
    return response;
  }

  private checkCommit({ headers, ok }: Response): void {
    const commit = headers.get(commitHeader);
    if (!ok || commit === null || problemOfFileName(commit) !== undefined) return;
    this.commit ??= commit;
    if (commit === this.commit) return;
    throw new LoadError("network", `${this.name} changed on the hub while it was loading: load it again`);
  }

  private refusal(file: string, { status, headers }: Response): LoadError {
    const { hub, id, revision } = this.where;
    const host = new URL(hub).host;
    const code = headers.get(errorHeader);
    const because = (name: string, reason: string) =>
      new LoadError(name, `cannot load ${this.name} from ${host}: ${reason}`);
    if (code === "GatedRepo" || (status === 403 && code === null)) {
      const page = `${hub}${id}`;
      return because("network", `accept its owner's conditions at ${page}, then pass ${tokenAdvice}`);
    }
    switch (status) {
      case 401:
        return because(
          "network",
          `there is no model of this name, or it is private: check the name, or pass ${tokenAdvice}`,
        );
      case 404:
        if (code === "RevisionNotFound") return because("not-found", `it has no revision "${revision}"`);
        if (code === "RepoNotFound") return because("not-found", "there is no model of this name");
        return because("not-found", `it has no ${file}`);
      case 429:
        return because(
          "network",
          `the hub received too many requests from your network: try again later, or pass ${tokenAdvice}`,
        );
      default:
        return because("network", `for ${file} it answered ${status}`);
    }
  }
}
