// Names of files in a model's folder, as a hub, an index file or a caller gives them. The page, the package and its program
// all use these two functions, so a name cannot lead out of its folder in any of them. weights_tools/other_models.cc repeats the
// rule in C++.

/** C0 and C1 control characters, line separators, and the marks that reorder what a terminal or a page shows. */
const invisible =
  // eslint-disable-next-line no-control-regex -- these are the characters to refuse
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/;
/** In UTF-16 code units; longer than any host or file system allows. */
const longestName = 1024;

/** @param {string} segment */
function problemOfSegment(segment) {
  if (segment === "") return "it has an empty part";
  // Windows drops dots and spaces at the end of a name: "..  " would be "..".
  if (/^[. ]+$/.test(segment)) return `it has the part "${segment}"`;
  return undefined;
}

/**
 * Describes what is wrong with `name` as the name of a file in a folder or below it, with "/" between its parts.
 * @param {string} name
 * @returns {string | undefined} A clause for a message, without the name; undefined if the name is valid.
 */
export function problemOfFileName(name) {
  if (name === "") return "it is empty";
  if (name.length > longestName) return `it is longer than ${longestName} characters`;
  const invisibleOne = invisible.exec(name)?.[0].codePointAt(0);
  if (invisibleOne !== undefined)
    return `it contains the invisible character U+${invisibleOne.toString(16).toUpperCase().padStart(4, "0")}`;
  const mark = /[\\:]/.exec(name)?.[0];
  if (mark !== undefined) return `it contains "${mark}"`;
  if (/\p{Cs}/u.test(name)) return "it is not valid Unicode";
  return name
    .split("/")
    .map(problemOfSegment)
    .find((problem) => problem !== undefined);
}

/**
 * The address of the file `name` in the folder `folder`, or below it.
 * @param {string} folder An absolute address that ends in a slash.
 * @param {string} name Parts with "/" between them; each part is percent-encoded here.
 * @returns {string} Throws a RangeError if the name could lead out of the folder.
 */
export function fileAddress(folder, name) {
  const problem = problemOfFileName(name);
  if (problem) throw new RangeError(`${JSON.stringify(name.slice(0, 100))} is not a file name: ${problem}`);
  const address = new URL(name.split("/").map(encodeURIComponent).join("/"), folder).href;
  if (!address.startsWith(new URL(folder).href)) throw new RangeError(`${address} is outside ${folder}`);
  return address;
}

/** Files that may hold a tokenizer's rules or its tokens. */
export const tokenizerFiles = [
  "tokenizer.json",
  "vocab.json",
  "merges.txt",
  "vocab.txt",
  "spiece.model",
  "tokenizer.model",
];

/** Files with settings of a tokenizer that is not in tokenizer.json. */
export const tokenizerSettings = ["tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"];
