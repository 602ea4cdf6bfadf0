// gpt2-page-sources.js: the page's part of sources that few pages use.
export { numberOf } from "./identity.js";
export { servePageFetch } from "./page-fetch.js";
export { readAdapters } from "./read-adapters.js";
export { readSource } from "./read-source.js";
