// The view of the text, stored in the fragment of the page's address: a link opens the view, and a reload keeps it.

const marker = "#view=";

/** The fragment if it names a view, else "". */
export const viewOf = (fragment: string): string => (fragment.startsWith(marker) ? fragment : "");

/** The view that `fragment` names; undefined if it names none. */
export const nameIn = (fragment: string): string | undefined =>
  viewOf(fragment).slice(marker.length) || undefined;

/** The page's address without query and fragment. A path alone is not enough: "//x/" would be another host. */
export const pageAddress = (): string => location.href.replace(/[?#].*$/s, "");

/** Sets or removes the view in the address. A link to a text stays there. */
export function keepView(name: string | undefined): void {
  if (location.hash !== viewOf(location.hash)) return;
  const fragment = name === undefined ? "" : marker + name;
  if (fragment === location.hash) return;
  history.replaceState(null, "", pageAddress() + location.search + fragment);
}
