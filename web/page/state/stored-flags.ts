// Yes-or-no settings and notes already shown, stored for later visits.

/** The key has the path, because other pages of the host share the storage. */
const keyOf = (name: string) => `gpt2-${name} ${location.pathname}`;

/** Used without storage, as in a sandboxed frame: the flag lasts for this visit. */
const ofThisVisit = new Map<string, boolean>();

export function hasFlag(name: string): boolean {
  try {
    return localStorage.getItem(keyOf(name)) !== null;
  } catch {
    return ofThisVisit.get(name) ?? false;
  }
}

export function storeFlag(name: string, isChosen = true): void {
  ofThisVisit.set(name, isChosen);
  try {
    if (isChosen) localStorage.setItem(keyOf(name), "1");
    else localStorage.removeItem(keyOf(name));
  } catch {
    // There is no storage.
  }
}
