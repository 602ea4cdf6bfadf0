// Sends requests to a hub. Only the hub gets the token; redirects, and the time and size of answers, have limits.
import { lookup } from "node:dns/promises";
import { setTimeout as pause } from "node:timers/promises";
import { parseAddress, parseHub, parseToken, redirectTarget } from "./addresses.mjs";
import { FetchError, quoted, reasonOf, say } from "./messages.mjs";

/**
 * @typedef {object} Access
 * @property {string} hub The hub's address, without a slash at the end.
 * @property {string | undefined} token Sent to the hub's origin only.
 * @property {number} stallMs A connection that is silent for this long counts as broken, in milliseconds.
 * @property {number} listingMs The time that the hub has to list a model's files, in milliseconds.
 * @property {(address: string, init: RequestInit) => Promise<Response>} ask As fetch.
 * @property {(host: string) => Promise<string[]>} resolve Returns the IP addresses of a host.
 * @property {(ms: number) => Promise<void>} pause Waits before another attempt.
 */

const mostRedirects = 10;
const noticeAfterMs = 3000;
/** Limit for all answers about one model together, in bytes; a list has about 300 for each file. */
const mostBytes = 32 << 20;

/**
 * Access to a hub as the user configured it. Throws a UsageError.
 * @param {string} hub
 * @param {string | undefined} token
 * @returns {Access}
 */
export const openAccess = (hub, token) => ({
  hub: parseHub(hub),
  token: parseToken(token),
  stallMs: 30_000,
  listingMs: 60_000,
  ask: fetch,
  resolve: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  pause,
});

/**
 * The message for an answer that is an error.
 * @param {number} status
 * @param {string} what
 * @param {string} hub
 */
export function refusal(status, what, hub) {
  switch (status) {
    case 401:
      return `${hub} does not give access to ${what}: it does not exist, or it is private. If it is private, set HF_TOKEN to a token that may read it`;
    case 403:
      return `${hub} restricts access to ${what}: accept its conditions on its page, and set HF_TOKEN to your token`;
    case 404:
      return `${hub} has no ${what}: check the name and the revision`;
    case 429:
      return `${hub} received too many requests from this network: try again later, or set HF_TOKEN`;
    default:
      return `${hub} answered ${status} for ${what}`;
  }
}

/**
 * Waits for `answer`. After a few seconds, it prints a line that names `what`.
 * @template T
 * @param {Promise<T>} answer
 * @param {string} what
 */
async function saying(answer, what) {
  const timer = setTimeout(() => say(`waiting for ${what}`), noticeAfterMs);
  try {
    return await answer;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Asks the hub for `address`, and follows redirects. After a redirect to another host, the token is no longer sent.
 * @param {string} address
 * @param {string} what The requested thing, for messages.
 * @param {Access} access
 * @param {{headers?: Record<string, string>, signal: AbortSignal, isFile?: boolean}} options Only files may come
 *   from another host.
 * @returns {Promise<{response: Response, isHub: boolean}>} `isHub`: the hub's own origin answered
 */
export async function get(address, what, access, { headers = {}, signal, isFile = false }) {
  const { origin } = new URL(access.hub);
  let url = new URL(address);
  let isHub = url.origin === origin;
  for (let redirects = 0; redirects <= mostRedirects; ++redirects) {
    const authorization = isHub && access.token ? { Authorization: `Bearer ${access.token}` } : {};
    const asked = access.ask(url.href, {
      headers: { ...headers, ...authorization },
      redirect: "manual",
      signal,
    });
    const response = await saying(asked, `${url.host} to answer for ${what}`);
    const location = response.headers.get("location");
    if (![301, 302, 303, 307, 308].includes(response.status) || location === null) return { response, isHub };
    await response.body?.cancel();
    url = await redirectTarget(url, location, access, what);
    isHub &&= url.origin === origin;
    if (!isHub && !isFile)
      throw new FetchError(
        `${access.hub} redirects ${what} to ${url.host}, expected an answer from the hub itself`,
      );
  }
  throw new FetchError(`${access.hub} redirects ${what} more than ${mostRedirects} times`);
}

/** The JSON that a hub answers about one model, within limits of time and size. */
export class HubApi {
  bytes = 0;
  controller = new AbortController();

  /** @param {Access} access */
  constructor(access) {
    this.access = access;
    const { hub, listingMs } = access;
    this.late = new FetchError(
      `${hub} has not listed the model's files within ${listingMs / 1000} s: try again later`,
    );
    this.timer = setTimeout(() => this.controller.abort(this.late), listingMs);
  }

  /** Ends all requests. */
  close() {
    clearTimeout(this.timer);
    this.controller.abort();
  }

  /**
   * @param {string} address
   * @param {string} what The requested thing, for messages.
   * @returns {Promise<{value: unknown, next: string | undefined}>} `next`: the address of the list's next page
   */
  async json(address, what) {
    const { access, controller } = this;
    try {
      const { response } = await get(address, what, access, {
        headers: { Accept: "application/json" },
        signal: controller.signal,
      });
      if (!response.ok) throw new FetchError(refusal(response.status, what, access.hub));
      const text = await saying(
        this.text(response, what),
        `the rest of the answer from ${access.hub} for ${what}`,
      );
      return { value: this.parse(text, response, what), next: this.next(response, address, what) };
    } catch (error) {
      if (error instanceof FetchError) throw error;
      if (controller.signal.aborted) throw this.late;
      throw new FetchError(`${access.hub} cannot be reached: ${reasonOf(error)}`, { cause: error });
    }
  }

  /** @param {Response} response @param {string} what */
  async text(response, what) {
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of response.body ?? []) {
      this.bytes += chunk.length;
      if (this.bytes > mostBytes)
        throw new FetchError(
          `${this.access.hub} sent more than ${mostBytes >> 20} MiB for ${what}: check that it is a Hugging Face hub`,
        );
      text += decoder.decode(chunk, { stream: true });
    }
    return text + decoder.decode();
  }

  /** @param {string} text @param {Response} response @param {string} what @returns {unknown} */
  parse(text, response, what) {
    try {
      return JSON.parse(text);
    } catch {
      const type = response.headers.get("content-type") ?? undefined;
      throw new FetchError(
        `${this.access.hub} answered with the type ${quoted(type)} for ${what}, expected JSON: check that it is a Hugging Face hub`,
      );
    }
  }

  /** @param {Response} response @param {string} address @param {string} what */
  next(response, address, what) {
    const link = /<([^<>]*)>\s*;\s*rel="?next"?/.exec(response.headers.get("link") ?? "")?.[1];
    if (link === undefined) return undefined;
    const { hub } = this.access;
    const url = parseAddress(link, address);
    if (url?.origin === new URL(hub).origin && url.username === "" && url.password === "") return url.href;
    throw new FetchError(
      `${hub} continues ${what} at ${quoted(url?.host ?? link)}, expected an address on the hub`,
    );
  }
}
