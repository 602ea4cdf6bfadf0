// The sources that loadModel accepts, and the requests to the worker.
import { beforeEach, expect, it, vi } from "vitest";
import { readSource } from "../../web/src/client/read-source.js";
import type { FilesRequest } from "../../web/src/shared/protocol.js";

beforeEach(() => void vi.stubGlobal("document", { baseURI: "http://host/page/index.html" }));

const read = (source: unknown) => readSource(source, undefined);
const usual = "https://huggingface.co/";
const hub = (id: string, revision = "main", own = {}) => ({ kind: "hub", hub: usual, id, revision, ...own });
const refusal = (message: string | RegExp) =>
  expect.objectContaining({ code: "invalid-argument", message: expect.stringMatching(message) });

function file(name: string, path = ""): File {
  const made = new File([name], name);
  Object.defineProperty(made, "webkitRelativePath", { value: path && `${path}/${name}` });
  return made;
}

it.each([
  ["hf:openai-community/gpt2", hub("openai-community/gpt2")],
  ["HF:gpt2", hub("gpt2")],
  ["hf:user/fine-tune@refs/pr/1", hub("user/fine-tune", "refs/pr/1")],
  ["hf:user/gpt2-GGUF/q/gpt2.Q8_0.gguf@v1", hub("user/gpt2-GGUF", "v1", { file: "q/gpt2.Q8_0.gguf" })],
  ["hf:user/gpt2-GGUF:Q8_0@v1", hub("user/gpt2-GGUF", "v1", { quantization: "Q8_0" })],
  ["https://hf.co/user/gpt2-GGUF:q4_k", hub("user/gpt2-GGUF", "main", { quantization: "q4_k" })],
  ["https://huggingface.co/gpt2", hub("gpt2")], // as people copy it from the Hub's pages
  ["https://huggingface.co/user/tale/tree/v1/onnx?x=1#files", hub("user/tale", "v1")],
  ["//hf.co/user/tale/blob/main/q/x.Q8_0.GGUF", hub("user/tale", "main", { file: "q/x.Q8_0.GGUF" })],
  [new URL("https://huggingface.co/user/tale/resolve/main/"), hub("user/tale")],
  ["models/demo", hub("models/demo", "main", { hub: "https://hub.example/sub/" }), "https://hub.example/sub"],
  ["hf:gpt2", hub("gpt2", "main", { hub: "https://hub.example/" }), new URL("https://hub.example")],
])("%s is the address of %j, on another hub if one is set", async (source, request, base?: string | URL) => {
  expect(await readSource(source, base)).toEqual(request);
});

it.each([
  ["hf:", undefined, /the model's id is "hf:", expected owner\/name/],
  ["hf:a/b/c", undefined, /the model's id is "hf:a\/b\/c", expected/],
  ["hf:../b", undefined, /expected owner\/name/],
  ["hf:a/b?c", undefined, /expected owner\/name/],
  ["hf:a/b/../../../c/d/resolve/main/x.gguf", undefined, /it has the part "\.\."/],
  ["hf:a/b@..", undefined, /and ".." in it is wrong: it has the part "\.\."/],
  ["./models/demo/", usual, /the model's id is ".\/models\/demo\/", expected owner/],
  [new URL("http://host/m"), usual, /hub needs a model's id, but the model is an object/],
  ["a/b", "http://[", /hub is "http:\/\/\[", which is not a URL/],
  ["a/b", 3, /hub is 3, expected a URL/],
  ["a/b", "https://user:secret@hub.example", /^hub has a user name or a password/], // messages would show it
])("an id is refused: %s at %s", async (source, base, message) => {
  await expect(readSource(source, base)).rejects.toEqual(refusal(message));
});

it.each([
  ["models/demo", { url: "http://host/page/models/demo/", orHub: hub("models/demo") }],
  ["user/tale@v1", { url: "http://host/page/user/tale@v1/", orHub: hub("user/tale", "v1") }],
  ["a/b:Q8_0", { url: "http://host/page/a/b:Q8_0/", orHub: hub("a/b", "main", { quantization: "Q8_0" }) }],
  ["models/demo/", { url: "http://host/page/models/demo/" }],
  ["./models", { url: "http://host/page/models/" }],
  ["../m", { url: "http://host/m/" }],
  ["a/b/c", { url: "http://host/page/a/b/c/" }],
  ["m", { url: "http://host/page/m/" }],
  ["a/b?c", { url: "http://host/page/a/b/", query: "?c" }],
  ["/m/?sign=%2F&x#?y", { url: "http://host/m/", query: "?sign=%2F&x" }],
  ["models/gpt2.gguf", { url: "http://host/page/models/", file: "gpt2.gguf" }],
  ["https://cdn/x/y.Q4_K.GGUF?v=1", { url: "https://cdn/x/", file: "y.Q4_K.GGUF", query: "?v=1" }],
  [new URL("https://cdn/x/y.gguf"), { url: "https://cdn/x/", file: "y.gguf" }],
  [new URL("https://cdn/x"), { url: "https://cdn/x/" }],
  ["https://hf.co/a/b/resolve/v1/a%20b.gguf", { url: "https://hf.co/a/b/resolve/v1/", file: "a%20b.gguf" }],
  ["https://huggingface.co/datasets/user/tale", { url: "https://huggingface.co/datasets/user/tale/" }],
])("%s is the address of a folder, which may be an id, too", async (source, request) => {
  expect(await read(source)).toEqual({ kind: "folder", ...request });
});

it.each([
  ["", /^the model is "", expected a folder's URL, an id on the hub, or files/],
  [" \n", /expected a folder's URL, an id on the hub/],
  ["blob:http://host/x.gguf", /expected a folder's URL, as https:/],
  [new URL("filesystem:http://host/temporary/x.gguf"), /expected a folder's/],
  ["http://user@host/m/", /^the model's address has a user name or a password, which fetch refuses/],
  ["//user:secret@host/x.gguf", /^(?!.*secret).*has a user name or a password/],
])("%s is refused", async (source, message) => {
  await expect(read(source)).rejects.toEqual(refusal(message));
});

it("an address is relative to the page's, without the password in the page's address", async () => {
  vi.stubGlobal("document", { baseURI: "https://user:secret@host/page/a@b.html" });
  expect(await read("models/demo/")).toMatchObject({
    url: "https://host/page/models/demo/",
  });
  vi.stubGlobal("document", { baseURI: "https://host/a@b/page.html" });
  expect(await read("m/")).toMatchObject({ url: "https://host/a@b/m/" });
});

const namesOf = async (source: object) => {
  const request = (await read(source)) as FilesRequest;
  return { names: request.files.map(({ name }) => name), file: request.file };
};

it("local files come from the one folder with a config.json", async () => {
  const files = [
    file("readme.md", "drop"),
    file("config.json", "drop/gpt2"),
    file("model.safetensors", "drop/gpt2"),
    file("model.safetensors", "drop/other"),
  ];
  expect(await namesOf(files)).toEqual({ names: ["config.json", "model.safetensors"], file: undefined });
  expect(await namesOf(new Set(files))).toEqual(await namesOf(files));
});

it("a GGUF file is used by itself or among other files", async () => {
  expect(await namesOf(file("a.gguf"))).toEqual({ names: ["a.gguf"], file: "a.gguf" });
  expect(await namesOf([file("a.GGUF"), file("config.json")])).toEqual({ names: ["a.GGUF"], file: "a.GGUF" });
  const both = [file("a.gguf"), file("config.json"), file("model.safetensors")];
  expect((await namesOf(both)).file).toBeUndefined();
});

it("the same local files give the same id, in any kind of list", async () => {
  const files = [file("config.json"), file("weights.json")];
  const keyOf = async (source: object) => ((await read(source)) as FilesRequest).key;
  expect(await keyOf([...files])).toBe(await keyOf(files));
  expect(await keyOf([file("config.json"), file("weights.json")])).not.toBe(await keyOf(files));
});

it.each([
  [[], /the list of the model's files is empty/],
  [[3], /number 0 of the model's files is 3, expected a File/],
  [{}, /number 0 of the model's files is an object, expected a File/],
  [[file("a"), file("b")], /there is no model among the files \(a, b\), expected config\.json/],
  [[file("a.gguf"), file("b.gguf")], /there are 2 GGUF files \(a\.gguf, b\.gguf\), expected one/],
  [
    [file("config.json", "a"), file("config.json", "b")],
    /there are 2 models among the files \(a\/, b\/\), expected one/,
  ],
  [
    [file("config.json"), file("config.json")],
    /two files are named "config\.json", expected the files of one model/,
  ],
])("local files are refused: %s", async (source, message) => {
  await expect(read(source)).rejects.toEqual(refusal(message));
});

const handle = (kind: "file" | "directory", permission?: PermissionState, answer?: PermissionState) => ({
  kind,
  name: "gpt2",
  ...(permission && { queryPermission: async () => permission }),
  ...(answer && { requestPermission: async () => answer }),
  ...(kind === "file" && { getFile: async () => file("gpt2.gguf") }),
  ...(kind === "directory" && {
    getFileHandle: async () => {},
    async *values() {
      for (const name of ["config.json", "weights.json"])
        yield { kind: "file", getFile: async () => file(name) };
      yield { kind: "directory" };
    },
  }),
});

it("a directory handle gives its files once the page may read them", async () => {
  expect(await read(handle("directory"))).toMatchObject({
    files: [{ name: "config.json" }, { name: "weights.json" }],
  });
  expect(await read(handle("directory", "prompt", "granted"))).toMatchObject({ kind: "files" });
  expect(await read(handle("file", "granted"))).toMatchObject({ file: "gpt2.gguf" });
});

it.each([
  ["denied", undefined],
  ["prompt", "denied"],
] as const)("a handle without permission is an error that names it: %s", async (permission, answer) => {
  await expect(read(handle("directory", permission, answer))).rejects.toMatchObject({
    code: "not-found",
    message: expect.stringContaining('this page may not read "gpt2"'),
  });
});
