// Addresses given by callers.
import { baseAddress } from "../shared/base-address.js";
import { refuse, describeValue } from "../shared/refuse.js";

/** The absolute form of an address, relative to the page. `what` names it in messages. */
function parseAddress(what: string, url: unknown): URL {
  if (typeof url !== "string" && !(url instanceof URL)) {
    return refuse(`${what} is ${describeValue(url)}, expected a URL`);
  }
  try {
    return new URL(url, baseAddress());
  } catch {
    return refuse(`${what} is ${describeValue(url)}, which is not a URL`);
  }
}

/** The absolute form of an address that can serve as a base, relative to the page. `what` names it in messages. */
export function readAddress(what: string, url: unknown): URL {
  const address = parseAddress(what, url);
  // fetch refuses passwords in addresses. Messages and the list of stored models would show them.
  if (address.username || address.password)
    refuse(`${what} has a user name or a password, which fetch refuses: use the option headers`);
  try {
    new URL("file", address);
  } catch {
    refuse(`${what} is ${describeValue(url)}, expected a folder's URL, as https://host/folder/`); // data: and blob: addresses have no path
  }
  return address;
}

/** As readAddress, for a folder: ends in a slash, without query or fragment. */
export function readFolder(what: string, url: unknown): string {
  const folder = readAddress(what, url);
  folder.pathname = folder.pathname.replace(/\/*$/, "/");
  folder.search = "";
  folder.hash = "";
  return folder.href;
}
