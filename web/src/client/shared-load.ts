// One worker and one model for all loads with the same arguments. It ends with the last user.
import { WorkerError } from "../shared/errors.js";
import type { LoadRequest, LoadResult, RequestName, Requests } from "../shared/protocol.js";
import type { LoadProgress } from "../shared/types.js";
import { unlessAborted } from "../shared/unless-aborted.js";
import { runCallback } from "./run-callback.js";
import { rememberThreads } from "./thread-choices.js";
import type { Connection, OpenRequest, RequestOptions } from "./connection.js";

/** One user's share of a connection. */
export class Lease {
  private readonly cancels = new Set<(reason: unknown) => void>();
  private disposal: { error: WorkerError; done: Promise<void> } | undefined;

  private readonly connection: Connection;
  private readonly leave: () => Promise<void>;

  constructor(connection: Connection, leave: () => Promise<void>) {
    this.connection = connection;
    this.leave = leave;
  }

  request<K extends RequestName>(
    name: K,
    args: Requests[K]["args"],
    options?: RequestOptions<K>,
  ): Promise<Requests[K]["result"]> {
    return this.open(name, args, options).result;
  }

  open<K extends RequestName>(
    name: K,
    args: Requests[K]["args"],
    options?: RequestOptions<K>,
  ): OpenRequest<K> {
    if (this.disposal) return { result: Promise.reject(this.disposal.error), read() {}, cancel() {} };
    const request = this.connection.open(name, args, options);
    this.cancels.add(request.cancel);
    const forget = () => void this.cancels.delete(request.cancel);
    request.result.then(forget, forget);
    return request;
  }

  /** Rejects this user's requests. For the last user, resolves when the worker has ended. */
  dispose(): Promise<void> {
    if (!this.disposal) {
      const error = new WorkerError("disposed", "the model was disposed of");
      this.disposal = { error, done: this.leave() };
      for (const cancel of this.cancels) cancel(error);
    }
    return this.disposal.done;
  }
}

export class SharedLoad {
  readonly result: Promise<LoadResult>;
  private readonly listeners = new Set<(progress: LoadProgress) => void>();
  private progress: LoadProgress | undefined;
  private users = 0;

  private readonly connection: Connection;
  /** Called when it can no longer be joined. */
  private readonly onEnd: () => void;

  constructor(
    connection: Connection,
    request: LoadRequest,
    onEnd: () => void,
    transfer: Transferable[] = [],
  ) {
    this.connection = connection;
    this.onEnd = onEnd;

    connection.onEnd = onEnd;
    this.result = connection.request("load", request, {
      onEvent: (progress) => {
        this.progress = progress;
        for (const listener of this.listeners) listener(progress);
      },
      transfer,
    });
    this.result.then(
      ({ info }) => {
        connection.onInfo = ({ info: changed, threadChoice }) => {
          Object.assign(info, changed);
          if (threadChoice) rememberThreads(threadChoice);
        };
      },
      () => {
        onEnd(); // the next load tries again
        void connection.dispose();
      },
    );
  }

  /**
   * Adds a user. The user leaves when `signal` is aborted, or with the error that its own `onProgress` throws. When the
   * last user leaves, the load ends.
   */
  async join(
    signal: AbortSignal | undefined,
    onProgress: ((progress: LoadProgress) => void) | undefined,
  ): Promise<LoadResult & { lease: Lease }> {
    this.users += 1;
    const refused = new AbortController();
    const listener = (progress: LoadProgress) =>
      runCallback(onProgress, progress, (error) => refused.abort(error));
    this.listeners.add(listener);
    if (this.progress) listener(this.progress);
    try {
      const result = await unlessAborted(unlessAborted(this.result, signal), refused.signal);
      return { ...result, lease: new Lease(this.connection, this.leave) };
    } catch (error) {
      void this.leave();
      throw error;
    } finally {
      this.listeners.delete(listener);
    }
  }

  /** Not a closure of `join`: the registry of models would hold `onProgress`, and what its caller can see, forever. */
  private readonly leave = (): Promise<void> => {
    this.users -= 1;
    if (this.users > 0) return Promise.resolve();
    this.onEnd();
    return this.connection.dispose();
  };
}
