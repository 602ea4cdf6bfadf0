// How the files of a model are asked for: with the headers that the page wants on each request.
import type { LoadRequest } from "../shared/protocol.js";

export function headersFetch({
  headers,
  credentials,
}: Pick<LoadRequest, "headers" | "credentials">): typeof fetch {
  return (url, init) => {
    const all = new Headers(init?.headers);
    for (const [name, value] of headers) all.append(name, value);
    return fetch(url, { ...init, headers: all, ...(credentials && { credentials }) });
  };
}
