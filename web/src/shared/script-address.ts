// Addresses for starting workers: of this origin, and trusted if the page requires that.

/** The parts of Trusted Types that are used here. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): { createScriptURL(url: string): string };
}

const policyName = "gpt2-wasm";
let policy: ReturnType<TrustedTypes["createPolicy"]> | undefined;

/** `address` for `new Worker`, which accepts no plain text on a page with Trusted Types. */
export function trustedScriptUrl(address: string): string {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  try {
    policy ??= trustedTypes?.createPolicy(policyName, { createScriptURL: (url) => url });
  } catch {
    // The page's policy does not list ours. It may not require trusted addresses either.
  }
  return policy?.createScriptURL(address) ?? address;
}

/** Whether a script is at an address from which no worker can be started directly. */
export function isCrossOrigin(address: string): boolean {
  const { protocol, origin } = new URL(address, self.location.href);
  return protocol !== "blob:" && protocol !== "data:" && origin !== self.origin;
}

/** Thrown by the script of `asOwnScript` if it cannot import its target. */
export const notImported = "not imported";

/**
 * An address of this origin for the module script at `address`, which may be at another origin. Browsers start workers
 * only from their own origin, but let them import from any origin that allows it. The import is dynamic, because WebKit
 * refuses a static one on an isolated page. Messages that arrive in the meantime are kept. The address, of some
 * 200 bytes, is not revoked: browsers do not report when they have read it, and helper threads start from it later.
 */
export function asOwnScript(address: string): string {
  const importing =
    `const early=[];onmessage=(e)=>early.push(e);import(${JSON.stringify(address)})` +
    `.then(()=>early.forEach((e)=>onmessage(e)),()=>setTimeout(()=>{throw"${notImported}"}))`;
  // Chromium starts no module from a blob if the page has no origin, as in a sandboxed frame.
  if (self.origin === "null") return `data:text/javascript,${encodeURIComponent(importing)}`;
  return URL.createObjectURL(new Blob([importing], { type: "text/javascript" }));
}
