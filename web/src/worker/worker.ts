// The worker, gpt2-worker.js: owns the engine. What it does with the page's requests is in server.ts.
import { addresses } from "./addresses.js";
import { damageOf } from "./check-self.js";
import { serve } from "./serve.js";
import { UrlBuilds } from "./url-builds.js";

const isInBlob = ["blob:", "data:"].includes(self.location.protocol);
const damage = damageOf(import.meta.url, (...args) => fetch(...args));
serve(new UrlBuilds(addresses, isInBlob), damage);
