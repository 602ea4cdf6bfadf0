// A `fetch` that answers like OpenAI's server, for clients that accept one.
import { CapacityError, InvalidArgumentError } from "../shared/errors.js";
import { begun, bytesOf } from "./stream.js";
import type {
  CompletionChunk,
  CompletionRequest,
  CompletionResult,
  Completions,
  CompletionStream,
} from "./types.js";

const answer = (status: number, body: unknown) =>
  new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json" } });

const refusal = (status: number, error: unknown) =>
  answer(status, {
    error: {
      message: error instanceof Error ? error.message : String(error),
      type: status < 500 ? "invalid_request_error" : "server_error",
      param: null,
      code: error instanceof CapacityError ? "context_length_exceeded" : null,
    },
  });

/** The answer to GET /v1/models: any name is accepted, and this is the default one. */
const models = {
  object: "list",
  data: [{ id: "gpt2", object: "model", created: 0, owned_by: "gpt2-wasm" }],
};

async function readBody(request: Request): Promise<CompletionRequest> {
  try {
    return (await request.json()) as CompletionRequest;
  } catch {
    throw new InvalidArgumentError("invalid-argument", "the request's body is not JSON");
  }
}

/** What a server would send: a result as JSON, a stream as events. A stream is read only when the body is. */
export function responseOf(result: CompletionResult | CompletionStream, signal?: AbortSignal): Response {
  if (!("controller" in result)) return answer(200, result);
  const write = (chunk: CompletionChunk) => `data: ${JSON.stringify(chunk)}\n\n`;
  const events = bytesOf(result, write, "data: [DONE]\n\n", signal);
  return new Response(events, { headers: { "Content-Type": "text/event-stream" } });
}

async function complete(completions: Completions, request: Request, signal: AbortSignal): Promise<Response> {
  const result = await completions.create(await readBody(request), { signal });
  if (!("controller" in result)) return responseOf(result);
  const stream = await begun(result); // an invalid request needs an error status
  signal.throwIfAborted();
  return responseOf(stream, signal);
}

/** The `fetch` that `completionsFetch` returns. */
export function fetchOf(completions: Completions): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    // The caller's own signal. In Node.js, that of the new request is garbage-collected with it and then never aborts.
    const signal = init?.signal ?? (input instanceof Request ? input : request).signal;
    const { pathname } = new URL(request.url);
    if (request.method === "GET" && pathname.endsWith("/models")) return answer(200, models);
    if (request.method !== "POST" || !/(?<!\/chat)\/completions$/.test(pathname)) {
      const asked = `${request.method} ${pathname}`;
      return refusal(404, `unknown address ${asked}: GPT-2 only continues text, by POST to …/completions`);
    }
    try {
      return await complete(completions, request, signal);
    } catch (error) {
      signal.throwIfAborted();
      // Clients repeat a request after status 500.
      const isRequest = error instanceof InvalidArgumentError || error instanceof CapacityError;
      return refusal(isRequest ? 400 : 500, error);
    }
  };
}
