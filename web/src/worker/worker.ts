// The worker, gpt2-worker.js: owns the engine. What it does with the page's requests is in server.ts.
import { addresses, importPart } from "./addresses.js";
import { damageOf } from "./check-self.js";
import { serve } from "./serve.js";
import { UrlBuilds } from "./url-builds.js";

// Parts import each other through it: a bundler may have put each into another folder.
Object.assign(self, { gpt2Part: importPart });

const isInBlob = ["blob:", "data:"].includes(self.location.protocol);
const damage = damageOf(import.meta.url, (...args) => fetch(...args));
serve(new UrlBuilds(addresses, isInBlob), damage);
