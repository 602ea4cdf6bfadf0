// Adding an element of HTML to another.

/** A new `tag` at the end of `parent`, with its properties as `set` says. */
export function add<Tag extends keyof HTMLElementTagNameMap>(
  parent: Element,
  tag: Tag,
  set: Partial<HTMLElementTagNameMap[Tag]> = {},
): HTMLElementTagNameMap[Tag] {
  const element = Object.assign(document.createElement(tag), set);
  parent.append(element);
  return element;
}
