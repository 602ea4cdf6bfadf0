// Identifies the build of this module, so that files of two builds are not mixed.
declare const GPT2_RELEASE: string; // inserted by web/scripts/package.mjs

/** The version and a hash of the build; the same in module and worker. */
export const release = typeof GPT2_RELEASE === "undefined" ? "unbuilt" : GPT2_RELEASE;

/** An address that no cache answers with a file of another release. A precache must ignore the parameter `release`. */
export function ofThisRelease(url: URL): string {
  if (url.protocol.startsWith("http")) url.searchParams.set("release", release);
  return url.href;
}
