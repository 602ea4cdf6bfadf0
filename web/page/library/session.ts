// The storage of this tab, and that of the host, which outlives the tab. In a sandboxed frame both are missing, and nothing is kept.

/** Called in each access, because the browser may refuse it. */
type Place = () => Storage;

const session: Place = () => sessionStorage;
const local: Place = () => localStorage;

function read(place: Place, key: string): string | undefined {
  try {
    return place().getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

function write(place: Place, key: string, value: string | undefined): void {
  try {
    if (value === undefined) place().removeItem(key);
    else place().setItem(key, value);
  } catch {
    // There is no storage, or it is full.
  }
}

export const readSession = (key: string): string | undefined => read(session, key);
export const writeSession = (key: string, value: string | undefined): void => write(session, key, value);
export const readLocal = (key: string): string | undefined => read(local, key);
export const writeLocal = (key: string, value: string | undefined): void => write(local, key, value);

/** Pages of one host, and files on a disk, share a storage. A folder's address has two forms. */
export const path = location.pathname.replace(/(?<=\/)index\.html$/, "");
