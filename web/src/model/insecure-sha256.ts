// gpt2-sha256.js: SHA-256 (FIPS 180-4) for pages that are not served securely and so lack crypto.subtle.

const blockBytes = 64;

/** The first 32 bits of the fractional parts of `root` of the first `count` primes (FIPS 180-4, 4.2.2 and 5.3.3). */
function fractions(count: number, root: (prime: number) => number): Int32Array {
  const primes: number[] = [];
  for (let n = 2; primes.length < count; n += 1) if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  return Int32Array.from(primes, (prime) => (root(prime) % 1) * 2 ** 32);
}

const rotate = (word: number, by: number) => (word >>> by) | (word << (32 - by));

/** Continues `state`, eight words, with one block of `message`. */
function compress(state: Int32Array, message: DataView, from: number, keys: Int32Array, w: Int32Array): void {
  for (let t = 0; t < 16; t += 1) w[t] = message.getInt32(from + 4 * t);
  for (let t = 16; t < 64; t += 1) {
    const a = w[t - 15] ?? 0;
    const b = w[t - 2] ?? 0;
    const low = rotate(a, 7) ^ rotate(a, 18) ^ (a >>> 3);
    const high = rotate(b, 17) ^ rotate(b, 19) ^ (b >>> 10);
    w[t] = ((w[t - 16] ?? 0) + low + (w[t - 7] ?? 0) + high) | 0;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let t = 0; t < 64; t += 1) {
    const choice = (e & f) ^ (~e & g);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    const mixed = (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + choice + (keys[t] ?? 0);
    const first = (h + mixed + (w[t] ?? 0)) | 0;
    const second = ((rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + majority) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  [a, b, c, d, e, f, g, h].forEach((word, i) => (state[i] = (state[i] ?? 0) + word));
}

/** The 32 bytes of the hash. */
export function sha256(bytes: Uint8Array): Uint8Array {
  const state = fractions(8, Math.sqrt);
  const keys = fractions(64, Math.cbrt);
  const schedule = new Int32Array(64);
  const whole = bytes.length - (bytes.length % blockBytes);
  const message = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at < whole; at += blockBytes) compress(state, message, at, keys, schedule);
  // The rest, one bit, zeros, and the length in bits.
  const rest = bytes.length - whole;
  const last = new Uint8Array(rest < blockBytes - 8 ? blockBytes : 2 * blockBytes);
  last.set(bytes.subarray(whole));
  last[rest] = 0x80;
  const end = new DataView(last.buffer);
  end.setBigUint64(last.length - 8, BigInt(bytes.length) * 8n);
  for (let at = 0; at < last.length; at += blockBytes) compress(state, end, at, keys, schedule);
  const digest = new DataView(new ArrayBuffer(32));
  state.forEach((word, i) => digest.setInt32(4 * i, word));
  return new Uint8Array(digest.buffer);
}
