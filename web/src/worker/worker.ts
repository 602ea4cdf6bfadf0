// The worker, gpt2-worker.js: owns the engine. server.ts handles the page's requests.
import { addresses, importPart } from "./addresses.js";
import { serve } from "./serve.js";
import { UrlBuilds } from "./url-builds.js";

function runWorker(): void {
  // Parts import each other through this function, because a bundler may have put them into different folders.
  Object.assign(self, { gpt2Part: importPart });
  const isInBlob = ["blob:", "data:"].includes(self.location.protocol);
  serve(new UrlBuilds(addresses, isInBlob));
}

// Imported by a page or by Node.js, rather than started as a worker, this module does nothing.
if ("self" in globalThis && !("document" in globalThis)) runWorker();
