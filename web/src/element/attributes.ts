// Options in attributes: max-new-tokens is maxNewTokens.
import type { GenerateCall, LoadOptions } from "../client/index.js";
import { numberOptionNames, type NumberOptionName } from "../shared/generate-options.js";

/** The attribute of a property: max-new-tokens for maxNewTokens. */
export const attributeOf = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Attributes that control the load. A change of one loads another model. */
export const loadAttributes = ["model", "threads", "variant", "kv", "base-url"];

/** Attributes that control the generation. */
export const callAttributes = [...numberOptionNames.map(attributeOf), "stop"];

/**
 * undefined if the attribute is missing. An invalid number is left to loadModel and generate to refuse. Where a server
 * renders a framework's properties, the attribute has the property's name.
 */
export function numberIn(element: Element, name: string): number | undefined {
  const text = (element.getAttribute(attributeOf(name)) ?? element.getAttribute(name))?.trim();
  return text ? Number(text) : undefined;
}

export function readLoadOptions(element: Element): LoadOptions {
  const text = (name: string) => element.getAttribute(name) ?? undefined;
  return {
    threads: numberIn(element, "threads"),
    variant: text("variant") as LoadOptions["variant"],
    kv: text("kv") as LoadOptions["kv"],
    baseUrl: text("base-url") ?? text("baseUrl"),
  };
}

export function readCall(element: Element): GenerateCall {
  const call: GenerateCall = { stop: element.getAttribute("stop") };
  for (const name of numberOptionNames) call[name] = numberIn(element, name);
  return call;
}

/** Boolean attributes. */
const flags = ["disabled", "readonly", "required"];

/**
 * The value of an attribute's property. undefined, null and false remove the attribute; without the attribute, the
 * property is "".
 */
export type AttributeValue = string | number | boolean | null | undefined;

/**
 * The properties that `addProperties` adds to an element: those of both elements, and those that `Own` names.
 */
export type AttributeProperties<Own extends string> = Record<
  NumberOptionName | "threads" | "variant" | "kv" | "baseUrl" | Own,
  AttributeValue
>;

/** Sets an attribute in the way that its property does. */
export function setAttribute(element: Element, name: string, value: AttributeValue): void {
  const isAbsent = value === undefined || value === null || value === false;
  if (flags.includes(name)) element.toggleAttribute(name, Boolean(value));
  else if (isAbsent) element.removeAttribute(name);
  else element.setAttribute(name, value === true ? "" : String(value));
}

/** The property of an attribute: maxNewTokens for max-new-tokens. */
export const propertyOf = (attribute: string) =>
  attribute.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

function descriptorOf(object: object | null, name: string): PropertyDescriptor | undefined {
  if (object === null) return undefined;
  const own = Object.getOwnPropertyDescriptor(object, name);
  return own ?? descriptorOf(Object.getPrototypeOf(object) as object | null, name);
}

/**
 * Gives the elements with this prototype a property for each of these attributes. Frameworks set a property where `in` finds
 * one, and Solid always does. So `form`, which is also a getter, can be set too.
 */
export function addProperties(prototype: Element, attributes: readonly string[]): void {
  for (const attribute of attributes) {
    const name = propertyOf(attribute);
    const found = descriptorOf(prototype, name);
    if (found?.set) continue;
    Object.defineProperty(prototype, name, {
      configurable: true,
      enumerable: true,
      get(this: Element): unknown {
        if (found?.get) return found.get.call(this);
        return flags.includes(attribute)
          ? this.hasAttribute(attribute)
          : (this.getAttribute(attribute) ?? "");
      },
      set(this: Element, value: AttributeValue) {
        setAttribute(this, attribute, value);
      },
    });
  }
}
