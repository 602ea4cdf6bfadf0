// Requests for a model's files, with the caller's headers and credentials, which go only to the model's own host.
import { LoadError } from "../../shared/errors.js";
import { policyFetch } from "../../shared/policy.js";
import type { LoadRequest } from "../../shared/protocol.js";
import { whyBlocked } from "./blocked-request.js";

/** As fetch. If the browser blocks the request, the error says why. */
async function explainedFetch(url: string, init: RequestInit): Promise<Response> {
  try {
    return await policyFetch(url, init);
  } catch (error) {
    const why = error instanceof TypeError ? await whyBlocked(url) : undefined;
    throw why === undefined ? error : new LoadError("network", `cannot fetch ${url}: ${why}`);
  }
}

/** The limit that fetch itself has. */
const mostRedirects = 20;

/** The target of a redirect; null if the browser hides it, undefined if the answer is not a redirect. */
function redirectOf({ status, type, headers }: Response, from: string): URL | null | undefined {
  if (type === "opaqueredirect") return null;
  const location = headers.get("location");
  if (![301, 302, 303, 307, 308].includes(status) || location === null) return undefined;
  try {
    return new URL(location, from);
  } catch {
    return null;
  }
}

/** Whether fetch sends the header Authorization to another origin after a redirect, as Chromium did before release 119. */
function keepsAuthorization(): boolean {
  const { navigator } = globalThis as { navigator?: { userAgent?: string } };
  const release = /\bChrom(?:e|ium)\/(\d+)/.exec(navigator?.userAgent ?? "")?.[1];
  return release !== undefined && Number(release) < 119;
}

const isWeb = ({ protocol }: URL) => protocol === "https:" || protocol === "http:";

/**
 * A `fetch` that sends `headers` and `credentials` to the origin of `home` only, also after a redirect. At a redirect to
 * another origin, fetch itself drops only the header Authorization. So with other headers or cookies this function follows
 * redirects itself, without them. Browsers hide where a redirect leads: there, it throws a LoadError.
 */
export function headersFetch(
  { headers, credentials, redirect }: Pick<LoadRequest, "headers" | "credentials" | "redirect">,
  home: string,
): typeof fetch {
  const { origin } = new URL(home);
  const isBound = (name: string) => keepsAuthorization() || !/^authorization$/i.test(name);
  const named = headers.map(([name]) => name).filter(isBound);
  const bound = [...new Set(named), ...(credentials === "include" ? ["cookies"] : [])];
  const isByHand = redirect === "error" || bound.length > 0;

  const refusal = (url: string) => {
    const why =
      redirect === "error"
        ? 'the option redirect is "error"'
        : `a browser would send ${bound.join(", ")} to the new address as well: load from that address, ` +
          "or pass a fetch of your own";
    return new LoadError("network", `cannot fetch ${url}: the host redirects, and ${why}`);
  };

  return async (input, init = {}) => {
    const first = input instanceof Request ? input.url : String(input);
    const all = new Headers(init.headers);
    for (const [name, value] of headers) all.append(name, value);
    const atHome = { ...init, headers: all, ...(credentials && { credentials }) };
    let isHome = new URL(first).origin === origin;
    let url = first;
    for (let redirects = 0; redirects <= mostRedirects; redirects += 1) {
      const wanted = isHome ? atHome : init;
      const response = await explainedFetch(url, isByHand ? { ...wanted, redirect: "manual" } : wanted);
      const next = isByHand ? redirectOf(response, url) : undefined;
      if (next === undefined) return response;
      void response.body?.cancel();
      if (next === null || redirect === "error") throw refusal(url);
      if (!isWeb(next)) throw new LoadError("network", `cannot fetch ${first}: it redirects to ${next.href}`);
      isHome &&= next.origin === origin; // another host chose every later address
      url = next.href;
    }
    throw new LoadError("network", `cannot fetch ${first}: it redirects more than ${mostRedirects} times`);
  };
}
