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
const headerNames = "location link x-repo-commit x-error-code content-type content-range content-length etag";
const sendable = trickyText.map((value) => value.replace(/[^\t\x20-\x7e\x80-\xff]/g, "\xe9")); // by a host
const address = fc.oneof(fc.constantFrom(...addresses.split(" ")), sendable);
const headerValue = fc.oneof(
  address,
  address.map((next) => `<${next}>; rel="next"`),
  fc.constantFrom("text/html", "application/json", "bytes 0-1/2", "-1", "0".repeat(40), "GatedRepo"),
);

const redirects = [301, 302, 303, 307, 308];
const number = fc.oneof(fc.nat(), fc.double(), fc.constantFrom(-1, 2 ** 53, 1e300));
const digest = fc.constantFrom<unknown>("0".repeat(40), "f".repeat(64), "x", "../", 3, null);
const entry = fc.record(
  {
    type: fc.constantFrom("file", "file", "directory", 1),
    path: fc.oneof(trickyText, fc.constantFrom("config.json", "a.safetensors", "A.safetensors", 3)),
    size: number,
    oid: digest,
    lfs: fc.record({ oid: digest, size: number }),
  },
  { requiredKeys: ["path"] },
);
/** Lists of files, as `/tree/` has them. */
export const entries = fc.array(entry, { maxLength: 5 });

const headers = fc.dictionary(fc.constantFrom(...headerNames.split(" ")), headerValue, { maxKeys: 3 });
const anyStatus = fc.constantFrom(
  ...Array<number>(9).fill(200),
  206,
  304,
  ...redirects,
  401,
  403,
  404,
  410,
  503,
);
const redirect: fc.Arbitrary<{ status: number; headers: Record<string, string>; body: string }> = fc.record({
  status: fc.constantFrom(...redirects),
  headers: fc.record({ location: address }),
  body: fc.constant(""),
});

/** An answer with `body`, a redirect, or another one with any status and headers. */
export const answerOf = (body: fc.Arbitrary<string>) => {
  const anyBody = fc.oneof({ weight: 4, arbitrary: body }, fc.json({ maxDepth: 2 }), fc.string());
  return fc.oneof(
    { weight: 4, arbitrary: fc.record({ status: anyStatus, headers, body: anyBody }) },
    redirect,
  );
};
export type Answer = ReturnType<typeof answerOf> extends fc.Arbitrary<infer Value> ? Value : never;

export const isRedirect = ({ status }: Answer) => redirects.includes(status);
export const responseOf = ({ status, headers, body }: Answer) =>
  new Response(status === 304 ? null : body, { status, headers });
