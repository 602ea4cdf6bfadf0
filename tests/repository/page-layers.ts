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

/** The imports between units that lead to the same layer or to a higher one. */
export const backwardImports = (sources: readonly string[]) =>
  sources.flatMap(importsOf).filter(({ from, to }) => {
    const [unit, other] = [unitOf(from), unitOf(to)];
    return to.startsWith("web/page/") && unit !== other && layerOf(other) >= layerOf(unit);
  });
