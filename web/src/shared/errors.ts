// Errors with a stable `code`: the engine's own codes pass through unchanged.
import type { WireError } from "./protocol.js";

/** Marks every error of this module, also those of a separately loaded part, which has its own classes. */
const brand = Symbol.for("gpt2-wasm error");

/** Every failure of this module, except an abort: an aborted call rejects with the signal's reason. */
export class Gpt2Error extends Error {
  /**
   * A separately loaded part has its own classes: its errors count as instances by their code.
   * @internal
   */
  static override [Symbol.hasInstance](error: unknown): boolean {
    if (super[Symbol.hasInstance](error)) return true;
    return brand in Object(error) && super[Symbol.hasInstance](errorFromWire(error as Gpt2Error));
  }

  /** The name of the class. */
  override readonly name: string = "Gpt2Error";
  /** Stable, for programs. docs/reference/api.md lists all codes. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }

  /** @internal */
  [brand](): void {} // a mark, never called
}

/** An option or argument that does not exist, or is outside its range. */
export class InvalidArgumentError extends Gpt2Error {
  /** The name of the class. */
  override readonly name = "InvalidArgumentError";
}

/** A text that does not fit the model's context, in strict mode. */
export class CapacityError extends Gpt2Error {
  /** The name of the class. */
  override readonly name = "CapacityError";
}

/** A model that could not be fetched, checked or understood. */
export class LoadError extends Gpt2Error {
  /** The name of the class. */
  override readonly name = "LoadError";
}

/** The worker ended, or the model was disposed of. */
export class WorkerError extends Gpt2Error {
  /** The name of the class. */
  override readonly name = "WorkerError";
}

export function errorFromWire({ code, message }: WireError): Gpt2Error {
  switch (code) {
    case "invalid-argument":
      return new InvalidArgumentError(code, message);
    case "capacity":
      return new CapacityError(code, message);
    case "corrupt":
    case "unsupported":
    case "not-found":
    case "network":
      return new LoadError(code, message);
    case "worker-died":
    case "disposed":
      return new WorkerError(code, message);
    default:
      return new Gpt2Error(code, message);
  }
}

export function errorToWire({ code, message }: Gpt2Error): WireError {
  return { code, message };
}

/** Describes a thrown value for the end of a sentence. */
export function reasonOf(error: unknown): string {
  const isPlain = error instanceof Gpt2Error || (error instanceof Error && error.name === "Error");
  const { cause } = Object(error) as { cause?: unknown };
  const { code } = Object(cause) as { code?: unknown };
  // Node.js says only "fetch failed" itself. Its cause has no message if several attempts failed.
  const why = (cause instanceof Error && cause.message) || (typeof code === "string" && code);
  return isPlain ? error.message : `${String(error)}${why ? ` (${why})` : ""}`;
}
