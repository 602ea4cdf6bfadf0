// Explains requests that a browser blocks before they reach a host. To the page, they look like a host that is down.

const thisDevice = /^(localhost|.*\.localhost|127\.[\d.]+|\[::1\])$/;
const localNetwork =
  /^(.*\.local|10\.[\d.]+|192\.168\.[\d.]+|169\.254\.[\d.]+|172\.(1[6-9]|2\d|3[01])\.[\d.]+|\[f[cde].*\])$/;

/** Chromium's names of the permission, of which releases have different ones. */
const permissionNames = ["local-network-access", "local-network", "loopback-network"];

async function isDenied(name: string): Promise<boolean> {
  const { permissions } = navigator as { permissions?: Permissions };
  const status = await permissions?.query({ name: name as PermissionName }).catch(() => undefined);
  return status?.state === "denied";
}

/** Why the browser blocks requests of this page to `url`, and what helps; undefined if nothing shows that it does. */
export async function whyBlocked(url: string): Promise<string | undefined> {
  const { protocol, hostname } = new URL(url);
  const { location } = globalThis as { location?: { href: string } };
  if (!location) return undefined;
  const { origin } = new URL(location.href); // also that of a worker's blob
  const page = origin === "null" ? undefined : new URL(origin);
  const isNear = thisDevice.test(hostname) || localNetwork.test(hostname);
  if (
    isNear &&
    hostname !== page?.hostname &&
    (await Promise.all(permissionNames.map(isDenied))).includes(true)
  ) {
    return (
      "the browser does not let this page reach the local network: allow it in the browser's settings for this page, and " +
      'in a frame with allow="local-network-access"'
    );
  }
  if (page?.protocol === "https:" && protocol === "http:" && !thisDevice.test(hostname)) {
    return "browsers block requests of an https: page to http: addresses: load the model from an https: address";
  }
  return undefined;
}
