// A `fetch` that answers like OpenAI's server, for clients that accept one.
import { InvalidArgumentError } from "../shared/errors.js";
import { bytesOf } from "./stream.js";
import type { Completions } from "./index.js";
import type { CompletionRequest } from "./types.js";

const answer = (status: number, body: unknown) =>
  new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json" } });

const refusal = (status: number, error: unknown) =>
  answer(status, {
    error: {
      message: error instanceof Error ? error.message : String(error),
      type: status < 500 ? "invalid_request_error" : "server_error",
      param: null,
      code: null,
    },
  });

async function readBody(request: Request): Promise<CompletionRequest> {
  try {
    return (await request.json()) as CompletionRequest;
  } catch {
    throw new InvalidArgumentError("invalid-argument", "the request's body is not JSON");
  }
}

async function complete(completions: Completions, request: Request): Promise<Response> {
  const { signal } = request;
  const result = await completions.create(await readBody(request), { signal });
  if (!("controller" in result)) return answer(200, result);
  const events = bytesOf(result, (chunk) => `data: ${JSON.stringify(chunk)}\n\n`, "data: [DONE]\n\n");
  return new Response(events, { headers: { "Content-Type": "text/event-stream" } });
}

/** The `fetch` that `completionsFetch` returns. */
export function fetchOf(completions: Completions): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const { pathname } = new URL(request.url);
    if (request.method !== "POST" || !/(?<!\/chat)\/completions$/.test(pathname)) {
      const asked = `${request.method} ${pathname}`;
      return refusal(404, `${asked} is not here: GPT-2 only continues text, by POST to …/completions`);
    }
    try {
      return await complete(completions, request);
    } catch (error) {
      request.signal.throwIfAborted();
      return refusal(error instanceof InvalidArgumentError ? 400 : 500, error);
    }
  };
}
