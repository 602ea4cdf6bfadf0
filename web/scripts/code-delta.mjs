// Stores the difference between two builds of the engine in few bytes. Their common parts are shifted, and function
// numbers and addresses differ a little, so that no two stretches are equal. But nearly all differences of bytes are
// zero (Percival, "Naive differences of executable code"). web/src/worker/apply-delta.ts applies the difference and
// describes the format.

/** Number of bytes by which a place in the old code is looked up. */
const keyBytes = 8;
/** A place matches if at least `leastEqual` of the next `windowBytes` bytes are equal. */
const windowBytes = 64;
const leastEqual = 20;
/** Places to try among those that begin with the same bytes. */
const mostPlaces = 64;

/**
 * @param {Buffer} old
 * @returns {(code: Buffer, at: number) => number[]} the places in `old` whose bytes equal those of `code` at `at`
 */
function indexOf(old) {
  const key = (code, at) => code.toString("latin1", at, at + keyBytes);
  /** @type {Map<string, number[]>} */
  const index = new Map();
  for (let at = 0; at + keyBytes <= old.length; at += 1) {
    const places = index.get(key(old, at));
    if (!places) index.set(key(old, at), [at]);
    else if (places.length < mostPlaces) places.push(at);
  }
  return (code, at) => index.get(key(code, at)) ?? [];
}

/** How many of `count` bytes of `code` from `at` on equal those of `old` from `place` on. */
function equalBytes(old, place, code, at, count) {
  let equal = 0;
  for (let i = 0; i < count; i += 1) if (old[place + i] === code[at + i]) equal += 1; // undefined beyond the ends
  return equal;
}

/** The place in `old` that best matches `code` at `at`, if any matches; `usual` wins a draw. */
function bestPlace(old, code, at, usual, find) {
  if (at >= code.length) return undefined;
  let best;
  let most = leastEqual - 1;
  for (const place of [usual, ...find(code, at)]) {
    if (old[place] !== code[at]) continue;
    const equal = equalBytes(old, place, code, at, Math.min(windowBytes, code.length - at));
    if (equal > most) [best, most] = [place, equal];
  }
  return best;
}

/** The length of the match of `code` and `old`: the longest part with the largest surplus of equal bytes. */
function likeness(old, place, code, at) {
  let surplus = 0;
  let most = 0;
  let length = 0;
  for (let i = 0; at + i < code.length && place + i < old.length; i += 1) {
    surplus += old[place + i] === code[at + i] ? 1 : -1;
    if (surplus > most) [most, length] = [surplus, i + 1];
    if (surplus < most - windowBytes / 2) break;
  }
  return length;
}

/**
 * The delta from which applyDelta restores `code`, given `old`.
 * @param {Buffer} old
 * @param {Buffer} code
 */
export function createDelta(old, code) {
  const find = indexOf(old);
  const steps = [];
  const differences = [];
  const added = [];
  const write = (to, number) => {
    for (; number > 127; number >>= 7) to.push((number & 127) | 128);
    to.push(number);
  };
  let addedSince = 0;
  /** In `old`, after the last used byte. */
  let end = 0;
  for (let at = 0; at < code.length;) {
    const place = bestPlace(old, code, at, end + addedSince, find) ?? bestPlace(old, code, at, end, find);
    if (place === undefined) {
      added.push(code[at]);
      addedSince += 1;
      at += 1;
      continue;
    }
    const length = likeness(old, place, code, at);
    const jump = place - end;
    for (const number of [addedSince, length, jump < 0 ? -2 * jump - 1 : 2 * jump]) write(steps, number);
    for (let i = 0; i < length; i += 1) differences.push(((code[at + i] ?? 0) - (old[place + i] ?? 0)) & 255);
    at += length;
    end = place + length;
    addedSince = 0;
  }
  const head = [];
  for (const number of [code.length, steps.length, differences.length]) write(head, number);
  return Buffer.from([...head, ...steps, ...differences, ...added]);
}
