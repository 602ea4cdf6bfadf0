// The layers of web/page, from the lowest to the highest. A file imports from its own unit and from lower layers alone.
import { importsOf } from "./imports.js";

export const layers: readonly (readonly string[])[] = [
  ["language"],
  ["dom", "state"],
  ["document"],
  ["library", "models", "assistant"],
  ["parts/*"],
  ["after-paint.ts"],
  ["app.ts"],
];

/** The unit of a file: a folder of web/page, one part of parts/, or a file that lies in none. */
export function unitOf(file: string): string {
  const [first = "", second = "", ...rest] = file.replace("web/page/", "").split("/");
  return first === "parts" && rest.length > 0 ? `parts/${second}` : first;
}

/** The layer of a unit, from 1, or 0 if it is in none. */
export const layerOf = (unit: string): number =>
  layers.findIndex((layer) => layer.includes(unit.replace(/^parts\/.*/, "parts/*"))) + 1;

/** Each arrow from one unit to another, with its imports. */
export function arrowsOf(sources: readonly string[]): Map<string, string[]> {
  const arrows = new Map<string, string[]>();
  for (const file of sources) {
    for (const { to } of importsOf(file)) {
      if (!to.startsWith("web/page/") || unitOf(to) === unitOf(file)) continue;
      const arrow = `${unitOf(file)} -> ${unitOf(to)}`;
      arrows.set(arrow, [...(arrows.get(arrow) ?? []), `${file} -> ${to}`]);
    }
  }
  return arrows;
}

/** Whether an arrow of `arrowsOf` leads to the same layer or to a higher one. */
export function isBackward(arrow: string): boolean {
  const [from = "", to = ""] = arrow.split(" -> ");
  return layerOf(to) >= layerOf(from);
}
