// Makes links as a stranger may write them: addresses of models, and texts.
import { deflateRawSync } from "node:zlib";
import * as fc from "fast-check";
import { numberOptionNames } from "../../../web/src/shared/number-options.js";

/** Any UTF-16 code unit, also half a surrogate pair. It is drawn as a number, because fc.string takes seconds to start. */
const character = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));

const pieces = [
  ...["https:", "http:", "HtTpS:", "hf:", "blob:", "data:", "javascript:", "file:", "ftp:", "about:"],
  ...[
    "/",
    "//",
    "\\",
    "\\\\",
    "\t",
    "\n",
    "\r",
    "\0",
    " ",
    "\u3000",
    "\ufeff",
    "\u202e",
    "\uff0e",
    "\u3002",
    "\u00ad",
  ],
  ...[
    "own.example",
    "evil.example",
    "OWN.example",
    "huggingface.co",
    "cdn.hf.co",
    "evil.example:443",
    "[::1]",
    "2130706433",
  ],
  ...[
    "user@",
    "user:pw@",
    "@",
    ":",
    "%2f",
    "%5c",
    "%00",
    "%2e%2e",
    "..",
    ".",
    "?",
    "#",
    "&",
    "models/demo/",
    "m.gguf",
    "a/b",
  ],
];
/** Nearly an address of another host, with one oddity or two. */
const almostAddress = fc
  .tuple(
    fc.constantFrom("", "", " ", "\t", "\0", "\n", "\u001f", "\u3000", "\u00a0"),
    fc.constantFrom("https:", "https:", "HTTPS:", "h\nttps:", "http:", "", "hf:", "blob:https:"),
    fc.constantFrom("//", "//", "/\\", "\\\\", "///", "/\t/", "/", ""),
    fc.constantFrom("huggingface.co", "cdn.hf.co", "evil.example", "HuggingFace.co", "own.example", "a/b"),
    fc.constantFrom(
      "/m/",
      "",
      "/x.gguf",
      "/x.gguf?a",
      ":443/m",
      "\\m",
      "?x",
      "#",
      "%2f",
      ".",
      "@evil.example",
    ),
  )
  .map((parts) => parts.join(""));
/** Values of `?model=`: pieces that browsers parse in surprising ways. */
export const linkedAddress = fc.oneof(
  almostAddress,
  fc
    .array(fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...pieces) }, character), { maxLength: 8 })
    .map((parts) => parts.join("")),
);

/** How many letters a text may be repeated to: past what a fragment may unpack to. */
const longest = 1_100_000;

const shortText = fc.oneof(
  fc.constantFrom("", "Once upon a time", "a\r\nb\rc", "🐈", "\ud800", "</script>", "\u202e"),
  fc.string({ unit: "binary", maxLength: 6 }),
);
const text = fc.oneof(
  { weight: 400, arbitrary: shortText },
  {
    weight: 1,
    arbitrary: fc
      .tuple(shortText, fc.nat(longest))
      .map(([unit, length]) => unit.repeat(length / Math.max(1, unit.length))),
  },
);
const odd = fc.oneof(
  fc.constantFrom<unknown>(null, true, -1, 0.5, 2 ** 53, [], {}, [[]], "x", { length: 3 }, [null]),
  fc.jsonValue({ maxDepth: 1 }),
);
const offset = fc.oneof({ weight: 9, arbitrary: fc.nat(24) }, odd);
const part = fc.oneof(
  { weight: 9, arbitrary: fc.tuple(offset, offset) },
  fc.tuple(offset, offset, fc.constantFrom("en", "de", 1)),
  odd,
);
const option = fc.constantFrom(
  ...[...numberOptionNames, "ignoreEos", "heal"],
  ...["stop", "signal", "__proto__", "constructor", "model", "url"],
);
const options = fc.dictionary(
  option,
  fc.oneof(fc.double(), fc.boolean(), fc.array(shortText, { maxLength: 3 }), odd),
  { maxKeys: 5 },
);
const often = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 19, arbitrary: arbitrary }, odd);
const passage = fc.record(
  {
    prompt: often(text),
    after: often(text),
    written: often(fc.array(part, { maxLength: 6 })),
    options: often(options),
    fields: often(fc.record({ remember: often(text), note: often(text) }, { requiredKeys: [] })),
    hash: often(fc.constantFrom("0".repeat(64), "")),
  },
  { requiredKeys: ["prompt", "options"] },
);

/** JSON as a link contains it. */
export const packed = (json: string) => deflateRawSync(json).toString("base64url");
/** Values of `#text=`: mostly passages with one or two wrong members. */
export const linkedText = fc.oneof(
  { weight: 12, arbitrary: passage.map((value) => packed(JSON.stringify(value))) },
  // A link that was cut, or in which letters were changed.
  {
    weight: 3,
    arbitrary: fc
      .tuple(passage, fc.nat(), fc.constantFrom("", "A", "_", "%", "#", "=", " ", "é"))
      .map(([value, at, letter]) => {
        const whole = packed(JSON.stringify(value));
        const place = at % (whole.length + 1);
        return whole.slice(0, place) + letter + (letter === "" ? "" : whole.slice(place + 1));
      }),
  },
  { weight: 1, arbitrary: fc.json().map(packed) },
  { weight: 1, arbitrary: fc.string() },
);
