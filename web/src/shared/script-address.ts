// Addresses that a worker may be started from: of this origin, and trusted where the page says that they have to be.

/** Trusted Types, as far as they are used here. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): { createScriptURL(url: string): string };
}

const policyName = "gpt2-wasm";
let policy: ReturnType<TrustedTypes["createPolicy"]> | undefined;

/** `address` for `new Worker`, which on a page with Trusted Types takes no plain text. */
export function trustedScriptUrl(address: string): string {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  try {
    policy ??= trustedTypes?.createPolicy(policyName, { createScriptURL: (url) => url });
  } catch {
    // The page's policy does not list it; it may not ask for trusted addresses either.
  }
  return policy?.createScriptURL(address) ?? address;
}

/** Whether a script lies where no worker can be started from directly. */
export function isCrossOrigin(address: string): boolean {
  const { protocol, origin } = new URL(address, self.location.href);
  return protocol !== "blob:" && protocol !== "data:" && origin !== self.origin;
}

/** What the script of `asOwnScript` throws if it cannot have the one that it is for. */
export const notImported = "not imported";

/**
 * An address of this origin for the module script at `address`, which may be at another origin. Browsers start workers only
 * from their own origin, but let them import from any origin that allows it. The import is dynamic, because WebKit refuses
 * a static one on an isolated page. Messages that arrive meanwhile are kept.
 */
export function asOwnScript(address: string): string {
  const importing =
    `const early=[];onmessage=(e)=>early.push(e);import(${JSON.stringify(address)})` +
    `.then(()=>early.forEach((e)=>onmessage(e)),()=>setTimeout(()=>{throw"${notImported}"}))`;
  // Chromium starts no module from a blob where the page has no origin, as in a sandboxed frame.
  if (self.origin === "null") return `data:text/javascript,${encodeURIComponent(importing)}`;
  return URL.createObjectURL(new Blob([importing], { type: "text/javascript" }));
}
