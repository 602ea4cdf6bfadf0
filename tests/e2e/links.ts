// Draws links as a stranger may write them: addresses of models, and texts.
import { deflateRawSync } from "node:zlib";
import * as fc from "fast-check";
import { numberOptionNames } from "../../web/src/shared/generate-options.js";
import { mostly, textOf } from "../web/properties/any-text.js";

const schemes = "https: http: HtTpS: hf: blob: data: javascript: file: ftp: about:";
const hosts =
  "own.example evil.example OWN.example huggingface.co cdn.hf.co evil.example:443 [::1] 2130706433";
const parts = "/ // \\ \\\\ user@ user:pw@ @ : %2f %5c %00 %2e%2e .. . ? # & models/demo/ m.gguf a/b";
const invisible = ["\t", "\n", "\r", "\0", " ", "\u3000", "\ufeff", "\u202e", "\uff0e", "\u3002", "\u00ad"];

/** Nearly an address of another host, with one oddity or two. */
const almostAddress = fc
  .tuple(
    fc.constantFrom("", "", " ", "\t", "\0", "\n", "\u001f", "\u3000", "\u00a0"),
    fc.constantFrom("https:", "https:", "HTTPS:", "h\nttps:", "http:", "", "hf:", "blob:https:"),
    fc.constantFrom("//", "//", "/\\", "\\\\", "///", "/\t/", "/", ""),
    fc.constantFrom("huggingface.co", "cdn.hf.co", "evil.example", "HuggingFace.co", "own.example", "a/b"),
    fc.constantFrom(..."/m/||/x.gguf|/x.gguf?a|:443/m|\\m|?x|#|%2f|.|@evil.example".split("|")),
  )
  .map((all) => all.join(""));
/** Values of `?model=`: pieces that browsers parse in surprising ways. */
export const linkedAddress = fc.oneof(
  almostAddress,
  textOf([...`${schemes} ${hosts} ${parts}`.split(" "), ...invisible]),
);

/** How many letters a text may be repeated to: past what a fragment may unpack to. */
const longest = 1_100_000;

const shortText = fc.oneof(
  fc.constantFrom("", "Once upon a time", "a\r\nb\rc", "🐈", "\ud800", "</script>", "\u202e"),
  fc.string({ unit: "binary", maxLength: 6 }),
);
const longText = fc
  .tuple(shortText, fc.nat(longest))
  .map(([unit, length]) => unit.repeat(length / Math.max(1, unit.length)));
const text = fc.oneof({ weight: 400, arbitrary: shortText }, { weight: 1, arbitrary: longText });
const odd = fc.oneof(
  fc.constantFrom<unknown>(null, true, -1, 0.5, 2 ** 53, [], {}, [[]], "x", { length: 3 }, [null]),
  fc.jsonValue({ maxDepth: 1 }),
);
const offset = mostly(fc.nat(24), odd);
const part = mostly(
  fc.oneof(fc.tuple(offset, offset), fc.tuple(offset, offset, fc.constantFrom("en", "de", 1))),
  odd,
);
const option = fc.constantFrom(
  ...numberOptionNames,
  ..."ignoreEos heal stop signal __proto__ constructor model url".split(" "),
);
const optionValue = fc.oneof(fc.double(), fc.boolean(), fc.array(shortText, { maxLength: 3 }), odd);
const fields = fc.record({ remember: mostly(text, odd), note: mostly(text, odd) }, { requiredKeys: [] });
const passage = fc.record(
  {
    prompt: mostly(text, odd),
    after: mostly(text, odd),
    written: mostly(fc.array(part, { maxLength: 6 }), odd),
    options: mostly(fc.dictionary(option, optionValue, { maxKeys: 5 }), odd),
    fields: mostly(fields, odd),
    hash: mostly(fc.constantFrom("0".repeat(64), ""), odd),
  },
  { requiredKeys: ["prompt", "options"] },
);

/** JSON as a link contains it. */
export const packed = (json: string) => deflateRawSync(json).toString("base64url");
const packedPassage = passage.map((value) => packed(JSON.stringify(value)));
/** A link that was cut, or in which a letter was changed. */
const damagedPassage = fc
  .tuple(packedPassage, fc.nat(), fc.constantFrom("", "A", "_", "%", "#", "=", " ", "é"))
  .map(([whole, at, letter]) => {
    const place = at % (whole.length + 1);
    return whole.slice(0, place) + letter + (letter === "" ? "" : whole.slice(place + 1));
  });
/** Values of `#text=`: mostly passages with one or two wrong members. */
export const linkedText = fc.oneof(
  { weight: 12, arbitrary: packedPassage },
  { weight: 3, arbitrary: damagedPassage },
  { weight: 1, arbitrary: fc.json().map(packed) },
  { weight: 1, arbitrary: fc.string() },
);
