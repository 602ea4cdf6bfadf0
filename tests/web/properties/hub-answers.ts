// Draws answers of a hub: mostly usable ones, with texts that lead elsewhere in their headers and lists.
import * as fc from "fast-check";
import { textOf } from "./any-text.js";

const parts = ".. . / // \\ : @ ? # %2e%2e %2f user:pw@ :80 [ http: https: file:///etc/ a user/tale x.gguf";
const addresses = "https://evil.example //evil.example http://hub.example/x https://cdn.example/x?sign=1";
const elsewhere =
  "https://hub.example/sub/user/tale https://hub.example/elsewhere http://[::1]:81/x http://[";
const hosts = "hub.example evil.example localhost 127.0.0.1 2130706433 intranet router.example";
const invisible = ["\0", "\t", " ", "\n", "\ud800", "\u202e", "\u001b[2J", "\u009b", "\u{e0041}"];

/** A name or an address that could lead out of a folder or to another host, or steer a terminal. */
export const trickyText = textOf(
  [...`${parts} ${addresses} ${elsewhere} ${hosts}`.split(" "), ...invisible],
  5,
);

const address = fc.oneof(
  fc.constantFrom(...addresses.split(" ")),
  trickyText.map((text) => text.replace(/[^\t\x20-\x7e\x80-\xff]/g, "\xe9")), // as a host can send it
);
const names = "location link x-repo-commit x-error-code content-type content-range content-length etag";
const headers = fc.dictionary(
  fc.constantFrom(...names.split(" ")),
  fc.oneof(
    address,
    address.map((next) => `<${next}>; rel="next"`),
    fc.constantFrom("text/html", "application/json", "bytes 0-1/2", "-1", "0".repeat(40), "GatedRepo"),
  ),
  { maxKeys: 3 },
);
const redirects = [301, 302, 303, 307, 308];
const status = fc.oneof(fc.constant(200), fc.constantFrom(206, 304, ...redirects, 401, 403, 404, 410, 503));

/** An answer with `body` and any status and headers, or a redirect. */
export const answerOf = (body: fc.Arbitrary<string>) =>
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        ...{ status, headers },
        body: fc.oneof({ weight: 4, arbitrary: body }, fc.json({ maxDepth: 2 }), fc.string()),
      }),
    },
    fc.record({
      status: fc.constantFrom(...redirects),
      headers: fc.record({ location: address }),
      body: fc.constant(""),
    }),
  );
export type Answer = ReturnType<typeof answerOf> extends fc.Arbitrary<infer Value> ? Value : never;

export const isRedirect = (answer: Answer) => redirects.includes(answer.status);
export const responseOf = ({ status: number, headers: sent, body }: Answer) =>
  new Response(number === 304 ? null : body, { status: number, headers: sent });
