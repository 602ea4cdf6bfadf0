// The operations that the tests need from a browser, for each way to drive it.

export interface Browser {
  /** Name and version. */
  readonly name: string;
  /** Loads a page, to the end of its load event. */
  open(url: string): Promise<void>;
  /** The value of an asynchronous JavaScript expression in the page: a string. */
  evaluate(expression: string): Promise<string>;
  /** Presses keys one after another where the focus is, as a user does. "Control+z" is one key while another is held. */
  press(...keys: string[]): Promise<void>;
  /** Ends all its processes and removes its profile. */
  close(): Promise<void>;
}

/** Something did not happen in time. */
export class LateError extends Error {}

/** `promise`, or a LateError that names `what` if it takes too long. */
export async function within<T>(milliseconds: number, what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new LateError(`${what} took longer than ${milliseconds} ms`);
    timer = setTimeout(() => reject(error), milliseconds);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
