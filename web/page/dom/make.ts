// Makes HTML elements.

/** A new `tag` with the properties in `set`, and with `parts` in it. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  set: Partial<HTMLElementTagNameMap[Tag]> = {},
  ...parts: readonly (string | Node)[]
): HTMLElementTagNameMap[Tag] {
  const element = Object.assign(document.createElement(tag), set);
  element.append(...parts);
  return element;
}
