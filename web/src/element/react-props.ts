// Sorts the props of the elements for React: React 19 neither sets properties nor adds listeners when it hydrates
// custom elements.
import { numberOptionNames } from "../shared/generate-options.js";
import { attributeOf } from "./attributes.js";

type Props = Readonly<Record<string, unknown>>;

/** React's names of the props that are attributes of the elements under other names. */
const attributeNames = new Map<string, string>([
  ...[...numberOptionNames, "baseUrl"].map((name) => [name, attributeOf(name)] as const),
  ["readOnly", "readonly"],
  ["autoFocus", "autofocus"],
  ["defaultValue", "prompt"],
]);

/** Props that React itself handles, in whatever form. */
const isReacts = (name: string) =>
  ["children", "style", "dangerouslySetInnerHTML"].includes(name) || /^on[A-Z]/.test(name);

/**
 * `attributes` are for the server, too. `late` are properties, and listeners such as `ongpt2-done`, which only a script
 * can set.
 */
export function sortProps(props: Props): { attributes: Props; late: Props } {
  const attributes: Record<string, unknown> = {};
  const late: Record<string, unknown> = {};
  // With load options, the load must not start before they are set.
  const { model, ...rest } = props;
  for (const [name, value] of Object.entries(rest)) {
    const isData = value !== null && ["object", "function"].includes(typeof value);
    const isLate = name === "value" || name.startsWith("ongpt2-") || (isData && !isReacts(name));
    if (isLate) late[name] = value;
    else attributes[attributeNames.get(name) ?? name] = value;
  }
  (props["loadOptions"] ? late : attributes)["model"] = model;
  return { attributes, late };
}

/** Sets what differs between `before` and `late`. */
export function setLate(element: HTMLElement, before: Props, late: Props): void {
  for (const name of new Set([...Object.keys(before), ...Object.keys(late)])) {
    const [old, value] = [before[name], late[name]];
    if (Object.is(old, value)) continue;
    if (!name.startsWith("on")) Reflect.set(element, name, value);
    else {
      if (old) element.removeEventListener(name.slice(2), old as EventListener);
      if (value) element.addEventListener(name.slice(2), value as EventListener);
    }
  }
}
