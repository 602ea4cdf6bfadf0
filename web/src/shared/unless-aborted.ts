/** As `promise`, but rejects with the signal's reason as soon as the signal is aborted. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort);
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** A controller that is aborted with `signal`, if there is one, until `letGo` is called. */
export function followingController(signal: AbortSignal | null | undefined): {
  controller: AbortController;
  letGo: () => void;
} {
  const controller = new AbortController();
  const onAbort = () => controller.abort(signal?.reason);
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort);
  return { controller, letGo: () => signal?.removeEventListener("abort", onAbort) };
}
