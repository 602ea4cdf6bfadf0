// Adds an HTML element to another.

/** Appends a new `tag` to `parent`, with the properties in `set`. */
export function add<Tag extends keyof HTMLElementTagNameMap>(
  parent: Element,
  tag: Tag,
  set: Partial<HTMLElementTagNameMap[Tag]> = {},
): HTMLElementTagNameMap[Tag] {
  const element = Object.assign(document.createElement(tag), set);
  parent.append(element);
  return element;
}
