// Has the module that looks at the environment loaded when somebody asks.
import type { Environment } from "./environment.js";

/** What this page has of what the engine can use, each with the reason, and with what would bring what is missing. */
export async function explainEnvironment(): Promise<Environment> {
  return (await import("./environment.js")).explainEnvironment();
}
