// A line of a given bandwidth and latency in front of a host: all connections share it, those of workers, too.
import { once } from "node:events";
import { connect, createServer } from "node:net";

/** Bytes that are sent at once. */
const portionBytes = 1460;

/**
 * Listens on a free port and passes everything on to `port`. Resolves to the line's own port, and to what closes it.
 * @param {number} port
 * @param {{ bytesPerSecond: number, roundTripMs: number }} line
 */
export async function openSlowLine(port, { bytesPerSecond, roundTripMs }) {
  /** Time at which the line has transferred all bytes so far. */
  let lineFree = 0;
  const server = createServer((client) => {
    const host = connect(port, "localhost");
    /** The connection takes one round trip, and each request another one. */
    let isNew = true;
    client.on("data", (request) => {
      const wait = roundTripMs * (isNew ? 2 : 1);
      isNew = false;
      setTimeout(() => host.write(request), wait);
    });
    void (async () => {
      for await (const chunk of host) {
        for (let at = 0; at < chunk.length; at += portionBytes) {
          const portion = chunk.subarray(at, at + portionBytes);
          const now = performance.now();
          lineFree = Math.max(lineFree, now) + (portion.length / bytesPerSecond) * 1000;
          await new Promise((sent) => setTimeout(sent, lineFree - now));
          client.write(portion);
        }
      }
      client.end();
    })().catch(() => client.destroy());
    client.on("close", () => host.destroy());
    for (const end of [client, host]) end.on("error", () => end.destroy());
  });
  server.listen(0, "localhost");
  await once(server, "listening");
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  return { port: address.port, close: () => void server.close() };
}
