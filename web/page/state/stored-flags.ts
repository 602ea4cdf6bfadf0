// Yes-or-no settings and notes already shown, stored for the next visits of this page.

/** Of this page alone: others of the same host share the storage. */
const keyOf = (name: string) => `gpt2-${name} ${location.pathname}`;

/** Where there is no storage, as in a sandboxed frame: it is for this visit. */
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
    // As above.
  }
}
