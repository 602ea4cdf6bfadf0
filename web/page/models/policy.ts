// Which hosts the page may contact, by its own Content-Security-Policy. A browser applies a policy in <meta> to the page, but
// not to its worker, which fetches the models. So the page checks the list before it asks the worker.

/** The sources of connect-src in the page's policy; undefined where the page has none, as in development. */
function allowed(): string[] | undefined {
  const meta = document.querySelector('meta[http-equiv="Content-Security-Policy"]');
  const list = /(?:^|;)\s*connect-src(?![^\s;])([^;]*)/i.exec(meta?.getAttribute("content") ?? "")?.[1];
  return list?.split(/\s+/).filter((source) => source !== "");
}

/** Whether `source`, an entry of connect-src, includes the origin of `url`. */
function includes(source: string, url: URL): boolean {
  if (source === "'self'") return url.origin === location.origin;
  if (source === "*") return true;
  if (/^[a-z]+:$/i.test(source)) return source.toLowerCase() === url.protocol;
  const parts = /^(?:(https?):\/\/)?(\*\.)?([^:/]+)(?::(\d+|\*))?(?:\/|$)/i.exec(source);
  if (!parts) return false;
  const [, scheme = location.protocol.slice(0, -1), wildcard, host = "", port = ""] = parts;
  if (url.protocol !== "https:" && url.protocol !== `${scheme.toLowerCase()}:`) return false;
  if (port !== "*" && port !== url.port) return false;
  const name = host.toLowerCase();
  return wildcard ? url.hostname.endsWith(`.${name}`) : url.hostname === name;
}

/** Whether the page's policy lets it contact the host of `url`. */
export const mayContact = (url: URL): boolean => allowed()?.some((source) => includes(source, url)) ?? true;
