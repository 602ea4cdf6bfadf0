/** Calls the caller's `callback`. `fail` gets what it throws, or what its promise rejects with. */
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
