// The request for a load, as the page sends it to the worker.
import type { LoadRequest, SourceRequest } from "../../../web/src/shared/protocol.js";

/** A request without options, except for those in `more`. */
export const loadRequest = (source: SourceRequest, more: Partial<LoadRequest> = {}): LoadRequest => ({
  source,
  threads: undefined,
  threadChoices: {},
  variant: undefined,
  kv: undefined,
  weights: undefined,
  stallMs: undefined,
  cache: false,
  prompt: "",
  headers: [],
  credentials: undefined,
  redirect: undefined,
  fetchPort: undefined,
  ...more,
});
