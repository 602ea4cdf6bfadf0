// Reconstructs the code of a build from that of another one and the differences, which web/scripts/code-delta.mjs
// computes.
//
// A delta begins with three numbers: the bytes of the code, of the steps and of the differences. These follow, and then
// the bytes to add. A step is three numbers: bytes to add, bytes to copy from the old code, and their distance from the
// end of the last copy. Each copied byte has its difference added. The distance is 2n forward, or 2n - 1 back. Numbers
// have seven bits per byte, the lowest first, and a continuation bit.

export function applyDelta(
  old: Uint8Array<ArrayBuffer>,
  delta: Uint8Array<ArrayBuffer>,
): Uint8Array<ArrayBuffer> {
  let at = 0;
  const number = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = delta[at++] ?? 0;
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  const code = new Uint8Array(number());
  const stepBytes = number();
  const differenceBytes = number();
  const end = at + stepBytes;
  let difference = end;
  let added = end + differenceBytes;
  let place = 0;
  let filled = 0;
  while (at < end) {
    const count = number();
    code.set(delta.subarray(added, (added += count)), filled);
    filled += count;
    const length = number();
    const jump = number();
    place += jump % 2 ? -(jump + 1) / 2 : jump / 2;
    for (let i = 0; i < length; i += 1) code[filled++] = (old[place++] ?? 0) + (delta[difference++] ?? 0);
  }
  code.set(delta.subarray(added), filled);
  return code;
}
