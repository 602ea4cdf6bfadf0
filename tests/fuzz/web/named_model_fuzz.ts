// Any text in `?model=`. The page counts it as its own host's only if a browser would ask that host. It asks its reader
// before any other host. The oracle is the address that loadModel would make of it, read a second time.
import { readSource } from "../../../web/src/client/read-source.js";
import { linkedAddress } from "./links.js";
import { fuzzTarget } from "./target.js";

const page = "https://own.example/gpt2/";
const policy = "connect-src 'self' https://huggingface.co https://evil.example https://*.hf.co";

/** The page's modules ask for these when they are imported, or called. */
Object.assign(globalThis, {
  document: {
    baseURI: page,
    querySelector: () => ({ getAttribute: () => policy }),
    documentElement: { lang: "en" },
  },
  location: new URL(page),
});

type Chosen = typeof import("../../../web/page/models/chosen-model.js") &
  typeof import("../../../web/page/models/named-model.js");
let chosen: Chosen;

/** The origins that loadModel would ask for `source`. */
async function originsOf(source: unknown): Promise<string[]> {
  try {
    const request = await readSource(source, undefined);
    if (request.kind === "files") throw new Error("no address is a list of files");
    const places =
      request.kind === "hub" ? [request.hub] : [request.url, ...(request.orHub ? [request.orHub.hub] : [])];
    return places.map((place) => new URL(place).origin);
  } catch (error) {
    if ((error as { code?: unknown }).code !== "invalid-argument") throw error;
    return []; // refused, without a request
  }
}

async function checkOne(input: string, model: ReturnType<Chosen["folderModel"]>): Promise<void> {
  if (model.problem) return; // the page makes no request
  for (const origin of await originsOf(model.source)) {
    const asked = new URL(origin).host;
    const expected = origin === "https://own.example" ? undefined : asked;
    if (model.elsewhere !== expected)
      throw new Error(
        `${JSON.stringify(input)} asks ${origin}, and the page names ${model.elsewhere ?? "nobody"}`,
      );
  }
  // The value that the page writes into its address names the same model.
  const query = new URLSearchParams(chosen.queryOf(model));
  const again = chosen.folderModel(query.get("model") ?? "", query.get("weights"));
  if (again.elsewhere !== model.elsewhere || again.folder !== model.folder)
    throw new Error(`${JSON.stringify(input)} becomes ${query.get("model") ?? ""}, which is elsewhere`);
}

export const target = fuzzTarget({
  arbitrary: linkedAddress,
  examples: [
    "//evil.example/m/",
    "/\\evil.example",
    "\0https://evil.example/m/",
    "h\nttps://evil.example/m/",
    "huggingface.co/https:\\\\",
  ],
  async start() {
    chosen = {
      ...(await import("../../../web/page/models/chosen-model.js")),
      ...(await import("../../../web/page/models/named-model.js")),
    };
  },
  async check(input) {
    const wellFormed = new URLSearchParams({ model: input }).get("model") ?? ""; // as an address has it
    await checkOne(input, chosen.folderModel(wellFormed));
    await checkOne(input, chosen.namedModel(wellFormed.trim()));
  },
});
