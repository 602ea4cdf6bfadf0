// weights.json: the pieces of a model's weights and the files beside them, with their sizes and hashes.
import { LoadError } from "../shared/errors.js";
import { largestPiece, mostListed } from "./limits.js";
import { parseJson } from "./parse-json.js";

export interface Piece {
  path: string;
  /** In bytes. */
  size: number;
  /** Lower-case hexadecimal. */
  sha256: string;
}

export interface WeightsIndex {
  size: number;
  pieces: Piece[];
  /** config.json and all other files of the model; undefined before version 2, the first numbered version. */
  files: Piece[] | undefined;
}

/** The members of an object; none for any other value. */
const membersOf = (value: unknown) => Object(value) as Readonly<Record<string, unknown>>;

const isSize = (value: unknown, most: number): value is number =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= most;

const corrupt = (what: string) => new LoadError("corrupt", `weights.json${what}`);

/** The error for a `path` whose hash differs from weights.json. */
export const wrongHash = ({ path, sha256 }: Piece, found: string) =>
  new LoadError("corrupt", `${path} has SHA-256 ${found}, weights.json says ${sha256}`);

function parsePiece(value: unknown, what: string): Piece {
  const { path, size, sha256 } = membersOf(value);
  if (
    typeof path === "string" &&
    /^[\w-][\w.-]*$/.test(path) &&
    isSize(size, largestPiece) &&
    typeof sha256 === "string" &&
    /^[0-9a-f]{64}$/.test(sha256)
  ) {
    return { path, size, sha256 };
  }
  throw corrupt(`: ${what} is not {"path": file name, "size": bytes, "sha256": hex}`);
}

export function parseWeightsIndex(text: string): WeightsIndex {
  const { version, size, ...lists } = membersOf(parseJson(text, "weights.json"));
  if (version !== undefined && version !== 2) {
    const found = Object(version) === version ? "an object" : JSON.stringify(version).slice(0, 40);
    throw new LoadError("unsupported", `weights.json has version ${found}, expected 2`);
  }
  const parseList = (of: string) => {
    const list = lists[`${of}s`];
    if (!Array.isArray(list)) throw corrupt(`: expected a list "${of}s"`);
    if (list.length > mostListed)
      throw corrupt(` lists ${list.length} ${of}s, expected at most ${mostListed}`);
    return list.map((entry, place) => parsePiece(entry, `${of} ${place}`));
  };
  if (!isSize(size, Number.MAX_SAFE_INTEGER)) throw corrupt(': expected "size" in bytes');
  const pieces = parseList("piece");
  const files = version ? parseList("file") : undefined;
  const seen = new Set<string>();
  const twice = [...pieces, ...(files ?? [])].find(({ path }) => seen.has(path) || !seen.add(path));
  if (twice) throw corrupt(` lists "${twice.path}" twice`);
  const total = pieces.reduce((sum, piece) => sum + piece.size, 0);
  if (total !== size) throw corrupt(`: its pieces have ${total} bytes together, but its size is ${size}`);
  return { size, pieces, files };
}
