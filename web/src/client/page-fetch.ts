// Lets the worker use the page's own `fetch`: see FetchRequest in protocol.ts.
import type { FetchAnswer, FetchPort, FetchRequest, FetchWant } from "../shared/protocol.js";
import { describeValue } from "../shared/refuse.js";

/** The answer of the caller's `fetch`, if it can be passed on. */
function readResponse(response: unknown): Response {
  const isResponse = typeof response === "object" && response !== null && "body" in response;
  if (!isResponse)
    throw new TypeError(`the option fetch returned ${describeValue(response)}, expected a Response`);
  const { type, status } = response as Response;
  if (status < 200 || status > 599)
    throw new TypeError(`the option fetch returned a response of type "${type}", expected a readable one`);
  return response as Response;
}

/** Sends the answer of `fetchFile`, one chunk per request. */
async function serveFile(
  { url, init, port }: FetchRequest,
  fetchFile: typeof fetch,
  closed: AbortSignal,
): Promise<void> {
  const controller = new AbortController();
  const abort = () => controller.abort();
  closed.addEventListener("abort", abort, { once: true });
  const send = (answer: FetchAnswer, transfer: Transferable[] = []) => port.postMessage(answer, transfer);
  let wake: () => void = () => {};
  let wanted = 0;
  const end = new Promise<void>((resolve) => controller.signal.addEventListener("abort", () => resolve()));
  port.onmessage = ({ data }) => {
    if ((data as FetchWant) === "cancel") return abort();
    wanted += 1;
    wake();
  };
  try {
    const response = readResponse(await fetchFile(url, { ...init, signal: controller.signal }));
    const { status, statusText } = response;
    send({ type: "response", status, statusText, headers: [...response.headers] });
    const reader = response.body?.getReader();
    void end.then(() => reader?.cancel()).catch(() => {});
    for (;;) {
      while (wanted === 0 && !controller.signal.aborted) {
        await Promise.race([end, new Promise<void>((resolve) => (wake = resolve))]);
      }
      if (controller.signal.aborted) return;
      wanted -= 1;
      const chunk = await reader?.read();
      if (!chunk || chunk.done) return send({ type: "end" });
      const bytes = chunk.value.slice(); // the caller may reuse its chunk
      send({ type: "chunk", bytes }, [bytes.buffer]);
    }
  } catch (error) {
    send({ type: "failed", message: String(error) });
  } finally {
    closed.removeEventListener("abort", abort);
    port.onmessage = null; // the worker closes the port after the last answer
  }
}

/** A port for a LoadRequest, through which the worker calls `fetchFile` until `closed` is aborted. */
export function servePageFetch(fetchFile: typeof fetch, closed: AbortSignal): MessagePort {
  const { port1, port2 } = new MessageChannel();
  (port1 as FetchPort).onmessage = ({ data }) => void serveFile(data as FetchRequest, fetchFile, closed);
  closed.addEventListener("abort", () => port1.close(), { once: true });
  return port2;
}
