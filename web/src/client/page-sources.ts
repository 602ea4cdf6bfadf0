// gpt2-page-sources.js: the page's side of ways to a model that few pages take.
export { numberOf } from "./identity.js";
export { servePageFetch } from "./page-fetch.js";
export { readAdapters } from "./read-adapters.js";
export { readSource } from "./read-source.js";
