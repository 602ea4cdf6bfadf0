// Attributes of the writer that belong to the field inside it.
import { setAttribute } from "./attributes.js";

/** Copied to the field. */
const copied = [
  ..."title inputmode enterkeyhint autocapitalize autocorrect autocomplete spellcheck".split(" "),
  ..."aria-invalid aria-keyshortcuts aria-required aria-roledescription".split(" "),
];

/** Names of elements outside the shadow tree: the field's own attributes cannot refer to those, but these properties can. */
const references = {
  "aria-describedby": "ariaDescribedByElements",
  "aria-details": "ariaDetailsElements",
  "aria-errormessage": "ariaErrorMessageElements",
  "aria-labelledby": "ariaLabelledByElements",
} as const;

/** Attributes whose changes `copyAttribute` takes. */
export const fieldAttributes = [...copied, ...Object.keys(references), "aria-label", "aria-description"];

export function copyAttribute(host: Element, name: string, field: Element): void {
  if (copied.includes(name)) setAttribute(field, name, host.getAttribute(name));
}

/** The text of the elements that an attribute of `host` names; "" if there is none. */
function textAt(host: Element, attribute: keyof typeof references): string {
  const ids = host.getAttribute(attribute)?.split(/\s+/) ?? [];
  const root = host.getRootNode() as Partial<ShadowRoot>; // `host` itself, outside a document
  return ids.map((id) => root.getElementById?.(id)?.textContent.trim() ?? "").join(" ");
}

/**
 * Names and describes the field as `host` is, by its attributes or else by `name`. Browsers without the properties (Chrome
 * before 135, Firefox before 136) get the texts of the elements.
 */
export function describeField(host: HTMLElement, field: HTMLElement, name: string): void {
  let [label, text] = ["aria-label", "aria-description"].map((own) => host.getAttribute(own));
  if ("ariaDescribedByElements" in (field as Partial<HTMLElement>))
    for (const property of Object.values(references)) field[property] = host[property];
  else {
    label = textAt(host, "aria-labelledby") || label;
    text = textAt(host, "aria-describedby") || text;
  }
  setAttribute(field, "aria-label", label || name);
  setAttribute(field, "aria-description", text);
}
