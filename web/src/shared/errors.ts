// Errors with a stable `code`: the engine's own codes pass through unchanged.
import type { WireError } from "./protocol.js";

/** What every failure of this module is, but an abort: that is the signal's own reason. */
export class Gpt2Error extends Error {
  override readonly name: string = "Gpt2Error";
  /** Stable, for programs; README.md has them all. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** An option or argument that does not exist, or is outside its range. */
export class InvalidArgumentError extends Gpt2Error {
  override readonly name = "InvalidArgumentError";
}

/** A text that does not fit the model's context, in strict mode. */
export class CapacityError extends Gpt2Error {
  override readonly name = "CapacityError";
}

/** A model that could not be fetched, checked or understood. */
export class LoadError extends Gpt2Error {
  override readonly name = "LoadError";
}

/** The worker ended, or the model was disposed of. */
export class WorkerError extends Gpt2Error {
  override readonly name = "WorkerError";
}

/** Whether `error` is a LoadError, also one of a module that has a class of its own. */
export const isLoadError = (error: unknown): error is LoadError =>
  error instanceof Error && error.name === "LoadError";

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
