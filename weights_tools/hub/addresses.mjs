// Checks the addresses of requests: the hub that the user named, and where it redirects.
import { BlockList, isIP } from "node:net";
import { FetchError, quoted, UsageError } from "./messages.mjs";

export const usualHub = "https://huggingface.co";

/**
 * `text` as an address, or undefined. Node.js 20's URL.canParse sometimes accepts what URL then refuses.
 * @param {string} text
 * @param {string} [base]
 */
export function parseAddress(text, base) {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}

/** @param {URL} url */
const isWeb = ({ protocol }) => protocol === "http:" || protocol === "https:";

/** @param {URL} url */
const hasUser = ({ username, password }) => username !== "" || password !== "";

/**
 * The hub's address, without a slash at its end. The text may hold a password, so no message repeats it.
 * @param {string} text
 */
export function parseHub(text) {
  const url = parseAddress(text);
  if (url && isWeb(url) && !hasUser(url) && !/[?#]/.test(url.href)) return url.href.replace(/\/+$/, "");
  throw new UsageError(
    "--hub or HF_ENDPOINT is not the address of a hub: expected https://host or http://host, without user, password and query",
  );
}

/**
 * HF_TOKEN, or undefined if it is not set. No message repeats it.
 * @param {string | undefined} text
 */
export function parseToken(text) {
  if (text === undefined || text === "") return undefined;
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  throw new UsageError(
    "HF_TOKEN contains a character that no token has, such as a space or a line break: copy your token again",
  );
}

/** Addresses that only this machine or its network can reach (IANA's registries of special-purpose addresses). */
const privateAddresses = new BlockList();
for (const range of [
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.168.0.0/16",
  "224.0.0.0/4 240.0.0.0/4 ::/127 fc00::/7 fe80::/10 fec0::/10 ff00::/8",
].flatMap((line) => line.split(" "))) {
  const [network = "", length] = range.split("/");
  privateAddresses.addSubnet(network, Number(length), network.includes(":") ? "ipv6" : "ipv4");
}

/**
 * Whether `url` leads to this machine or its network.
 * @param {URL} url
 * @param {(host: string) => Promise<string[]>} resolve returns the IP addresses of a host
 */
async function isPrivate({ hostname }, resolve) {
  const host = hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (host === "localhost" || host.endsWith(".localhost")) return true;
  const addresses = isIP(host) ? [host] : await resolve(host).catch(() => []); // the request itself will report that
  return addresses.some((address) =>
    privateAddresses.check(address, address.includes(":") ? "ipv6" : "ipv4"),
  );
}

/**
 * The address that an answer redirects to. Throws a FetchError if no request may go there.
 * @param {URL} from The address that answered.
 * @param {string} location The answer's header Location.
 * @param {{hub: string, resolve: (host: string) => Promise<string[]>}} access
 * @param {string} what The requested thing, for messages.
 */
export async function redirectTarget(from, location, { hub, resolve }, what) {
  const refuse = (/** @type {string} */ why) => new FetchError(`${from.host} redirects ${what} ${why}`);
  const to = parseAddress(location, from.href);
  if (!to) throw refuse(`to ${quoted(location)}, which is not an address`);
  if (!isWeb(to)) throw refuse(`to an address with ${quoted(to.protocol)}, expected https:`);
  if (hasUser(to)) throw refuse(`to ${to.host} with a user name, expected none`);
  if (from.protocol === "https:" && to.protocol === "http:")
    throw refuse(`to ${to.host} without encryption, expected https:`);
  const isElsewhere = to.origin !== new URL(hub).origin;
  if (isElsewhere && (await isPrivate(to, resolve)) && !(await isPrivate(new URL(hub), resolve)))
    throw refuse(`to ${to.host}, which is in a private network`);
  return to;
}
