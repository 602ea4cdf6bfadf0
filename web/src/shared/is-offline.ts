/** Whether the browser reports that there is no network at all. */
export function isOffline(): boolean {
  const { navigator } = globalThis as { navigator?: { onLine?: boolean } };
  return navigator?.onLine === false;
}
