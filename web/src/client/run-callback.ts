/** Calls the caller's `callback`. Passes what it throws, or its promise's rejection, to `fail`. */
export function runCallback<T>(
  callback: ((event: T) => unknown) | undefined,
  event: T,
  fail: (error: unknown) => void,
): void {
  try {
    const returned = callback?.(event);
    if (returned instanceof Promise) returned.catch(fail);
  } catch (error) {
    fail(error);
  }
}
