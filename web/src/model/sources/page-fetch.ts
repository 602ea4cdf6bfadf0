// A `fetch` for a model's files that calls the page's own.
import type { FetchAnswer, FetchPort, FetchRequest, FetchWant, LoadRequest } from "../../shared/protocol.js";

/** Chunks that are requested in advance. */
const ahead = 4;

/** Responses that must have no body. */
const isBodiless = (status: number) => [101, 204, 205, 304].includes(status);

/**
 * A `fetch` for URLs that calls the page through `pagePort`, with `headers`, `credentials` and `redirect`. It supports the
 * options `signal` and the header Range.
 */
export function pageFetch(
  pagePort: FetchPort,
  { headers, credentials, redirect }: Pick<LoadRequest, "headers" | "credentials" | "redirect">,
): typeof fetch {
  return (input, { signal, headers: more } = {}) => {
    const range = new Headers(more).get("range");
    const sent = headers.map(([...pair]) => pair);
    if (range !== null) sent.push(["Range", range]);
    const { port1, port2 } = new MessageChannel();
    const port = port1 as FetchPort;
    const want = (what: FetchWant) => port.postMessage(what, []);
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
    let arrived: () => void = () => {};
    const stop = (tells: boolean) => {
      if (tells) want("cancel");
      port.onmessage = null; // drops chunks that are still arriving
      port.close();
      signal?.removeEventListener("abort", onAbort);
    };
    let refuse: (reason: unknown) => void = () => {};
    const onAbort = () => {
      stop(true);
      controller?.error(signal?.reason);
      refuse(signal?.reason);
    };
    const body = new ReadableStream<Uint8Array>(
      {
        start: (made) => void (controller = made),
        pull: () => {
          want("more");
          return new Promise<void>((resolve) => (arrived = resolve)); // only one caller waits at a time
        },
        cancel: () => stop(true),
      },
      { highWaterMark: ahead },
    );
    return new Promise((resolve, reject) => {
      refuse = reject;
      port.onmessage = ({ data }) => {
        const answer = data as FetchAnswer;
        switch (answer.type) {
          case "response": {
            const { status, statusText, headers } = answer;
            return resolve(new Response(isBodiless(status) ? null : body, { status, statusText, headers }));
          }
          case "chunk":
            controller?.enqueue(answer.bytes);
            return arrived();
          case "end":
            stop(false);
            return controller?.close();
          case "failed":
            stop(false);
            controller?.error(answer.message);
            // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- its name is in the text already
            return reject(answer.message);
        }
      };
      if (signal?.aborted) return onAbort();
      signal?.addEventListener("abort", onAbort);
      const request: FetchRequest = {
        url: input instanceof Request ? input.url : String(input),
        init: { headers: sent, ...(credentials && { credentials }), ...(redirect && { redirect }) },
        port: port2 as FetchPort,
      };
      pagePort.postMessage(request, [port2]);
    });
  };
}
