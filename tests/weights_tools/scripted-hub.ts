// A hub without a network. A test or a property chooses its answers. It records each request, and whether it had the token.
import type { Access } from "../../weights_tools/hub/requests.mjs";

export const token = "hf_scriptedtoken";
export const commit = "607a30d783dfa663caf39e06633721c8d4cfcd7e";
/** The addresses that the fake name server returns; other hosts are public. */
export const privateHosts: Record<string, string> = { intranet: "10.1.2.3", "router.example": "fe80::1" };

/** An entry of a list of files. */
export const entry = (path: string, size = 3) => ({ type: "file", path, size, oid: "0".repeat(40) });
export const usualEntries = ["config.json", "model.safetensors"].map((name) => entry(name));

export class ScriptedHub {
  readonly asked: { url: URL; hasToken: boolean }[] = [];
  readonly access: Access;

  constructor(hub: string, answer: (url: URL, signal: AbortSignal) => Response | undefined) {
    this.access = {
      hub,
      token,
      stallMs: 1000,
      listingMs: 1000,
      resolve: (host) => Promise.resolve([privateHosts[host] ?? "192.0.2.1"]),
      pause: () => Promise.resolve(),
      ask: (address, { headers, signal }) => {
        const url = new URL(address);
        this.asked.push({ url, hasToken: new Headers(headers).has("authorization") });
        if (!signal) throw new Error("a request that nothing can end");
        const answered = answer(url, signal) ?? this.usualAnswer(url);
        return Promise.resolve(answered);
      },
    };
  }

  private usualAnswer({ pathname }: URL): Response {
    if (pathname.includes("/revision/")) return Response.json({ sha: commit });
    if (pathname.includes("/tree/")) return Response.json(usualEntries);
    return new Response("abc");
  }
}
