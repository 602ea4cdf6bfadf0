// Content security policies, in every browser: the error names the directive, and headers for a model go only to its host.
import { expect, test } from "@playwright/test";
import { FaultyHost } from "../e2e/faulty-host.js";
import { redirectTo, TwoHosts } from "../web/support/two-hosts.js";
import { engines } from "./cases.js";
import { inBrowsers } from "./tab.js";

/** A page that has loadModel. */
const html = `<!doctype html><title>page</title><script type="module" nonce="x">
  import { loadModel } from "./gpt2.js";
  globalThis.load = async (address, options) => {
    try {
      const model = await loadModel(address, { variant: "simd", cache: false, stallMs: 2000, ...options });
      await model.dispose();
      return "loaded";
    } catch ({ code, message }) {
      return code + ": " + message;
    }
  };
</script>`;

/** The policies of the page and of every script, and the directive that the error names; WebKit's may say less. */
const policies: { page?: string; scripts?: string; error: RegExp; inWebKit: RegExp }[] = [
  ...["script-src 'nonce-x'", "worker-src 'none'"].map((page) => ({
    page,
    error:
      /^unsupported: the page's Content-Security-Policy forbids the worker gpt2-worker.js: add 'self' to its worker-src$/,
    inWebKit: /^unsupported: the engine needs a worker.*worker-src.*'self'/,
  })),
  // WebKit reports no violations to workers.
  {
    scripts: "connect-src 'none'",
    error:
      /^network: cannot fetch .*the Content-Security-Policy forbids it. Add OWN, and each host.* to connect-src$/,
    inWebKit: /^network: /,
  },
  { scripts: "script-src 'wasm-unsafe-eval'", error: /to script-src/, inWebKit: /./ },
  ...["script-src 'self'"].map((scripts) => {
    const error =
      /^unsupported: the page's content security policy forbids WebAssembly: add 'wasm-unsafe-eval' to the script-src of its Content-Security-Policy$/;
    return { scripts, error, inWebKit: error };
  }),
];
