// The worker, gpt2-worker.js: owns the engine. What it does with the page's requests is in server.ts.
import { addresses } from "./addresses.js";
import { serve } from "./serve.js";
import { UrlBuilds } from "./url-builds.js";

serve(new UrlBuilds(addresses, ["blob:", "data:"].includes(self.location.protocol)));
