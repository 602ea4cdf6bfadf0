// The figures below the diagram, in their order.
import { arcs } from "./arcs.js";
import type { FigureKind } from "./figure.js";
import { lens } from "./lens.js";
import { overview } from "./overview.js";
import { switches } from "./switches.js";

export const figures: readonly FigureKind[] = [lens, arcs, overview, switches];
export const figureWords = { ...lens.words, ...arcs.words, ...overview.words, ...switches.words };
