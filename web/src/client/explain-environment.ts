// Loads the module that describes the environment on first use.
import type { Environment } from "./environment.js";

/** The features that this page has and lacks, each with the reason and with how to enable it. */
export async function explainEnvironment(): Promise<Environment> {
  return (await import("./environment.js")).explainEnvironment();
}
