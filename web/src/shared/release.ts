// Which build of this module it is, so that files of two of them are not mixed.
declare const GPT2_RELEASE: string; // put in by web/scripts/package.mjs

/** The version and a hash of what was built; the same in module and worker. */
export const release = typeof GPT2_RELEASE === "undefined" ? "unbuilt" : GPT2_RELEASE;

/** An address for which no cache gives a file of another release. A precache has to ignore the parameter `release`. */
export function ofThisRelease(url: URL): string {
  if (url.protocol.startsWith("http")) url.searchParams.set("release", release);
  return url.href;
}
