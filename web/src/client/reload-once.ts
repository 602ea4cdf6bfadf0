// A page that a service worker is to isolate is reloaded, but once in a tab: where one reload did not help, none does.

const key = "gpt2-wasm:isolation-tried";

/** Whether this tab has not been reloaded before; from now on it has. */
export function mayReload(): boolean {
  try {
    if (sessionStorage.getItem(key) !== null) return false;
    sessionStorage.setItem(key, "1");
    return true;
  } catch {
    return false; // private windows refuse storage
  }
}
