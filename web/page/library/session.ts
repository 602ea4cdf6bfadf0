// The storage of this tab. In a sandboxed frame it is missing, and nothing is kept.

export function readSession(key: string): string | undefined {
  try {
    return sessionStorage.getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

export function writeSession(key: string, value: string | undefined): void {
  try {
    if (value === undefined) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, value);
  } catch {
    // There is no storage, or it is full.
  }
}

/** Pages of one host, and files on disk, share a storage. A folder's address has two forms. */
export const path = location.pathname.replace(/(?<=\/)index\.html$/, "");
