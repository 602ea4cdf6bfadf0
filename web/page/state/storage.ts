// The browser's storages: of this tab, and of this host. A sandboxed frame has none, and a full one keeps nothing more.

/** The storage of this tab survives a reload; that of the host is shared by all pages and later visits. */
type Place = "sessionStorage" | "localStorage";

/** Pages of one host, and files on disk, share a storage. A folder's address has two forms. */
export const path = location.pathname.replace(/(?<=\/)index\.html$/, "");

export function readStored(place: Place, key: string): string | undefined {
  try {
    return self[place].getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

/** undefined removes the entry. Returns whether it is done. */
export function writeStored(place: Place, key: string, value?: string): boolean {
  try {
    if (value === undefined) self[place].removeItem(key);
    else self[place].setItem(key, value);
    return true;
  } catch {
    return false;
  }
}
