// The view of the text, in the fragment of the page's address: a link opens it, a reload keeps it.

const marker = "#view=";

/** The part of a fragment that names a view: all of it, or nothing. */
export const viewOf = (fragment: string): string => (fragment.startsWith(marker) ? fragment : "");

/** What `fragment` names; undefined where it is about something else. */
export const nameIn = (fragment: string): string | undefined =>
  viewOf(fragment).slice(marker.length) || undefined;

/** The page's address without query and fragment. A path alone will not do: "//x/" would be another host. */
export const pageAddress = (): string => location.href.replace(/[?#].*$/s, "");

/** Puts `name` into the address, or takes it away; a link to a text that is there stays. */
export function keepView(name: string | undefined): void {
  if (location.hash !== viewOf(location.hash)) return;
  const fragment = name === undefined ? "" : marker + name;
  if (fragment === location.hash) return;
  history.replaceState(null, "", pageAddress() + location.search + fragment);
}
