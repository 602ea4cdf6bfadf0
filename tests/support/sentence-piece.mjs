// Writes files of SentencePiece (sentencepiece_model.proto), and the tables of characters that they hold.

/** @typedef {readonly [from: string, to: string]} Rule What becomes of a text. */

/** @typedef {{ children: Map<number, TrieNode>, value?: number }} TrieNode */

/**
 * A table of characters: a trie of the texts that change (the double array of darts-clone), and what they become. Its size
 * in bytes comes first.
 * @param {readonly Rule[]} rules
 * @returns {Buffer}
 */
export function charsmap(rules) {
  /** @type {TrieNode} */
  const root = { children: new Map() };
  const texts = [];
  let at = 0;
  for (const [from, to] of rules) {
    let node = root;
    for (const byte of Buffer.from(from)) {
      const next = node.children.get(byte) ?? { children: new Map() };
      node.children.set(byte, next);
      node = next;
    }
    node.value = at;
    texts.push(Buffer.from(`${to}\0`));
    at += texts.at(-1)?.length ?? 0;
  }
  const units = doubleArray(root);
  const size = Buffer.alloc(4);
  size.writeUInt32LE(units.byteLength);
  return Buffer.concat([size, Buffer.from(units.buffer), ...texts]);
}

const hasLeaf = 1 << 8;
const isFar = 1 << 9; // the offset is 256 times as large as stored
const isValue = 2 ** 31;

/** @param {number} offset */
const fits = (offset) => offset < 1 << 21 || (offset % 256 === 0 && offset < 1 << 29);
/** @param {number} offset */
const stored = (offset) => (offset < 1 << 21 ? offset << 10 : ((offset >> 8) << 10) | isFar);

/**
 * The child of a node for a byte is at the node's own place xor its offset xor the byte. A node's value is at the place
 * of the byte 0.
 * @param {TrieNode} root
 */
function doubleArray(root) {
  /** @type {number[]} */
  const units = [0];
  const taken = new Set([0]); // places
  const bases = new Set([0]); // of which each is that of one node
  const queue = [{ node: root, place: 0 }];
  let firstFree = 1;
  for (const { node, place } of queue) {
    const bytes = [...(node.value === undefined ? [] : [0]), ...node.children.keys()];
    while (taken.has(firstFree)) ++firstFree;
    let base = firstFree;
    const isFree = () =>
      !bases.has(base) && fits(place ^ base) && !bytes.some((byte) => taken.has(base ^ byte));
    while (!isFree()) ++base;
    bases.add(base);
    for (const byte of bytes) taken.add(base ^ byte);
    units[place] = (units[place] ?? 0) | stored(place ^ base);
    if (node.value !== undefined) {
      units[place] |= hasLeaf;
      units[base] = isValue + node.value;
    }
    for (const [byte, child] of node.children) {
      units[base ^ byte] = byte;
      queue.push({ node: child, place: base ^ byte });
    }
  }
  const whole = new Uint32Array(Math.ceil(units.length / 256) * 256);
  units.forEach((unit, place) => (whole[place] = unit));
  return whole;
}

/** Kinds of pieces. */
export const pieceTypes = { normal: 1, unknown: 2, control: 3, userDefined: 4, unused: 5, byte: 6 };

/** @param {number} value */
function varint(value) {
  const bytes = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(rest)]);
}
/** @param {number} field @param {Buffer | string | number | boolean} value */
function protoField(field, value) {
  if (typeof value === "number" || typeof value === "boolean")
    return Buffer.concat([varint(field << 3), varint(Number(value))]);
  const bytes = Buffer.from(value);
  return Buffer.concat([varint((field << 3) | 2), varint(bytes.length), bytes]);
}
/** @param {Record<string, number>} numbers @param {Record<string, Buffer | string | number | boolean>} values */
const protoMessage = (numbers, values) =>
  Buffer.concat(
    Object.entries(values).map(([name, value]) => {
      const number = numbers[name];
      if (number === undefined) throw new Error(`there is no field ${name}`);
      return protoField(number, value);
    }),
  );

/** @param {readonly [text: string, score: number, type?: number]} piece */
function pieceOf([text, score, type = pieceTypes.normal]) {
  const bytes = Buffer.alloc(5);
  bytes[0] = (2 << 3) | 5;
  bytes.writeFloatLE(score, 1);
  return Buffer.concat(
    [protoField(1, text), bytes, type === pieceTypes.normal ? "" : protoField(3, type)].map((part) =>
      Buffer.from(part),
    ),
  );
}

const trainerFields = {
  model_type: 3,
  treat_whitespace_as_suffix: 24,
  byte_fallback: 35,
  unk_id: 40,
  bos_id: 41,
  eos_id: 42,
  pad_id: 43,
};
const normalizerFields = {
  name: 1,
  precompiled_charsmap: 2,
  add_dummy_prefix: 3,
  remove_extra_whitespaces: 4,
  escape_whitespaces: 5,
};

/**
 * A file such as spiece.model.
 * @param {readonly (readonly [text: string, score: number, type?: number])[]} pieces
 * @param {Record<string, number | boolean>} trainer Fields of its trainer_spec.
 * @param {Record<string, string | Buffer | boolean>} normalizer Fields of its normalizer_spec.
 * @returns {Buffer}
 */
export const sentencePieceFile = (pieces, trainer = {}, normalizer = {}) =>
  Buffer.concat([
    ...pieces.map((piece) => protoField(1, pieceOf(piece))),
    protoField(2, protoMessage(trainerFields, trainer)),
    protoField(3, protoMessage(normalizerFields, normalizer)),
  ]);
