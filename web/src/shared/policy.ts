// Detects requests that a Content-Security-Policy blocks. They fail as if the host were down; only an event names the
// directive.
import { LoadError } from "./errors.js";

type Violation = Pick<SecurityPolicyViolationEvent, "blockedURI" | "disposition" | "effectiveDirective">;

/** A page gets violation events at its document, a worker at its global scope. Node.js has no policies. */
const hearing = (): Partial<EventTarget> =>
  (globalThis as { document?: Partial<EventTarget> }).document ?? globalThis;

/** In milliseconds. Firefox fires the event after the request has failed. */
const lateMs = 200;

const withoutHash = (url: string) => url.replace(/#.*$/s, "");

/** Records which requests a policy forbids, from its construction until `end`. */
export class PolicyWatch {
  private readonly heard: Violation[] = [];
  private wake: () => void = () => {};

  constructor() {
    hearing().addEventListener?.("securitypolicyviolation", this.hear);
  }

  /** The first request that `directive` forbade, as the browser names it: an address, or a scheme such as "blob". */
  blockedBy(directive: string): string | undefined {
    return this.heard.find(({ effectiveDirective }) => effectiveDirective === directive)?.blockedURI;
  }

  /** The directive that forbade the failed request to `url`; undefined if none did. */
  async directiveFor(url: string): Promise<string | undefined> {
    if (!hearing().addEventListener) return undefined;
    const find = () => this.heard.find(({ blockedURI }) => blockedURI === withoutHash(url));
    const deadline = new Promise<void>((resolve) => setTimeout(resolve, lateMs));
    for (let isLate = false; !isLate && !find();) {
      const next = new Promise<void>((resolve) => (this.wake = resolve));
      isLate = await Promise.race([next.then(() => false), deadline.then(() => true)]);
    }
    return find()?.effectiveDirective;
  }

  end(): void {
    hearing().removeEventListener?.("securitypolicyviolation", this.hear);
  }

  private readonly hear = (event: Event): void => {
    const violation = event as Event & Violation;
    if (violation.disposition === "report") return; // a report-only policy blocks nothing
    this.heard.push(violation);
    this.wake();
  };
}

/** Runs `request`, which fetches `url`. If a policy blocks it, throws a LoadError that names the directive. */
export async function namingPolicy<T>(url: string, request: () => Promise<T>): Promise<T> {
  const watch = new PolicyWatch();
  try {
    return await request();
  } catch (error) {
    const directive = await watch.directiveFor(url);
    if (directive === undefined) throw error;
    throw new LoadError(
      "network",
      `cannot fetch ${url}: the Content-Security-Policy forbids it. Add ${new URL(url).origin}, and each host that ` +
        `it redirects to, to ${directive.replace(/-elem$/, "")}`,
    );
  } finally {
    watch.end();
  }
}

/** As fetch. If a policy blocks the request, the error names the directive. */
export const policyFetch: typeof fetch = (input, init) =>
  namingPolicy(input instanceof Request ? input.url : String(input), () => fetch(input, init));
