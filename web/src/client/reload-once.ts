// Allows one reload per tab for isolation by a service worker: if one reload does not help, none does.

const key = "gpt2-wasm:isolation-tried";

/** Whether this tab has not been reloaded yet. Records the reload. */
export function mayReload(): boolean {
  try {
    if (sessionStorage.getItem(key) !== null) return false;
    sessionStorage.setItem(key, "1");
    return true;
  } catch {
    return false; // private windows refuse storage
  }
}
