// SHA-256, used to verify files.

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** SHA-256 of `bytes`, in lower-case hexadecimal. */
export async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const { subtle } = crypto as Partial<Crypto>;
  if (subtle) return toHex(new Uint8Array(await subtle.digest("SHA-256", bytes)));
  return toHex((await import("./insecure-sha256.js")).sha256(bytes));
}
