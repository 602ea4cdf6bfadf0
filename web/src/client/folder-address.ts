// Addresses that callers give.
import { refuse, shown } from "../shared/refuse.js";

/** The absolute form of an address, relative to the page; `what` it is the address of, for messages. */
export function readAddress(what: string, url: unknown): URL {
  if (typeof url !== "string" && !(url instanceof URL)) {
    return refuse(`${what} is ${shown(url)}, expected a URL`);
  }
  // A worker may load models, too, and has no document; Node.js has absolute addresses only.
  const base =
    (globalThis as Partial<typeof globalThis>).document?.baseURI ??
    (globalThis as Partial<typeof globalThis>).location?.href;
  try {
    return new URL(url, base);
  } catch {
    return refuse(`${what} is ${shown(url)}, which is no URL`);
  }
}

/** As readAddress, for a folder: ends in a slash, without query or fragment. */
export function readFolder(what: string, url: unknown): string {
  const folder = readAddress(what, url);
  folder.pathname = folder.pathname.replace(/\/*$/, "/");
  folder.search = "";
  folder.hash = "";
  try {
    new URL("file", folder);
  } catch {
    refuse(`${what} is ${shown(url)}, expected a folder's, as https://host/folder/`); // data: and blob: have none
  }
  return folder.href;
}
