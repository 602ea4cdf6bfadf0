// @vitest-environment happy-dom
// Whether a model is on the page's own host, for every form of address.
import { beforeEach, expect, it, vi } from "vitest";
import { folderModel } from "../../../web/page/models/chosen-model.js";
import { addressOf, isSameModel } from "../../../web/page/models/model-address.js";
import { namedModel, queryOf } from "../../../web/page/models/named-model.js";
import type { ChosenModel } from "../../../web/page/state/page-state.js";

const page = "http://own.example/gpt2/";
const hosts = "'self' https://huggingface.co https://*.hf.co https://evil.example https://*.wide.example:*";

beforeEach(() => {
  (window as unknown as { happyDOM: { setURL(url: string): void } }).happyDOM.setURL(page);
  document.head.innerHTML = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; connect-src ${hosts}; img-src data:">`;
  vi.spyOn(document, "baseURI", "get").mockReturnValue(page);
});

const found = ({ elsewhere, folder, problem }: ChosenModel) => ({ elsewhere, folder, isRefused: !!problem });

it.each([
  "HTTPS://EVIL.example/m/",
  "https:evil.example/m/", // as "https://", because the page has another scheme
  "https:\\\\evil.example\\m\\",
  "\u0000 https://evil.example/m/",
  "ht\ttps://ev\ril.example/m.gguf",
  "https:////evil\uff0eexample:443/m/",
])("browsers resolve %j to another host, which the page names", (text) => {
  expect(found(folderModel(text))).toMatchObject({ elsewhere: "evil.example", folder: undefined });
});

it.each([
  ["no encryption", "//evil.example/m/"],
  ["no encryption", "/\\evil.example/m/"],
  ["no encryption", "\\\\evil.example/m/"],
  ["no encryption", "/\t/evil.example/x.gguf"],
  ["a user's name", "https://user@evil.example/m/"],
  ["a password for the page's own host", "http://own.example:pw@own.example/gpt2/m/"],
  ["another scheme", "ftp://evil.example/m/"],
  ["code", "javascript:alert(1)"],
  ["no host", "http://["],
  ["a space in the host", "http://evil example/"],
])("an address with %s is refused: %j", (_, text) => {
  expect(found(folderModel(text))).toEqual({ elsewhere: undefined, folder: undefined, isRefused: true });
});

it("an address on a host outside the policy is refused with its name", () => {
  const { problem } = folderModel("https://b\u00fccher.example:8080/m/");
  expect(problem?.()).toBe(
    "this page may not contact xn--bcher-kva.example:8080: its owner has not allowed that host",
  );
});

it.each([
  ["models/demo/?x=1#y", "models/demo/?x=1"],
  ["./models/demo//", "models/demo/"],
  ["/other/m/", "http://own.example/other/m/"],
  ["http://own.example/gpt2/models/a%20b/", "models/a%20b/"],
  ["http:models/demo/", "models/demo/"],
  ["HTTP://OWN.example:80/gpt2/x.GGUF?sign=1#y", "x.GGUF?sign=1"],
  [".", "./"],
  ["http://own.example/gpt2//evil.example/m/", "http://own.example/gpt2//evil.example/m/"],
  ["http://own.example/gpt2/hf:a/b", "http://own.example/gpt2/hf:a/b/"],
  ["http:https:", "http://own.example/gpt2/https:/"],
])("%j is on this host, and its own address loads it again", (text, address) => {
  const model = folderModel(text);
  expect(found(model)).toMatchObject({ elsewhere: undefined, isRefused: false });
  expect(new URL(model.folder ?? "").origin).toBe("http://own.example");
  expect(addressOf(model)).toBe(address);
  const again = folderModel(new URLSearchParams(queryOf(model)).get("model") ?? "");
  expect(isSameModel(again, model)).toBe(true);
});

it("an address of the page is on another host if the page's <base> points there", () => {
  vi.spyOn(document, "baseURI", "get").mockReturnValue("https://evil.example/");
  expect(found(folderModel("models/demo/"))).toMatchObject({ elsewhere: "evil.example" });
});

const hubIds = ["hf:user/tale", "HF:user/tale@refs/pr/1", "hf:gpt2", "hf:user/tale/q/x.gguf@v1"];
it.each(hubIds)("%s is a Hub id", (text) => {
  const source = `hf:${text.slice(3)}`;
  for (const model of [folderModel(text, "q4"), namedModel(text.slice(3), "q4")])
    expect(model).toMatchObject({ elsewhere: "huggingface.co", weights: "q4", source });
});

const noIds = ["hf:openai-community/gpt2/https://evil.example/gpt2.gguf", "hf://evil.example/m", "hf:../x"];
it.each(noIds)("%j is not a Hub id", (text) => {
  expect(found(folderModel(text))).toEqual({ elsewhere: undefined, folder: undefined, isRefused: false });
});

it.each([
  ["https://huggingface.co/user/tale/", "hf:user/tale"],
  ["http://HuggingFace.co/user/tale?library=x#files", "hf:user/tale"],
  ["https://huggingface.co/user/tale/tree/v1.0", "hf:user/tale@v1.0"],
  ["https://huggingface.co/user/tale/blob/main/q/x.gguf", "hf:user/tale/q/x.gguf"],
  ["https://huggingface.co/user/tale/resolve/v2/x.gguf?download=true", "hf:user/tale/x.gguf@v2"],
  ["https://huggingface.co/user/tale/blob/main/model.safetensors", "hf:user/tale"],
  ["https://huggingface.co/gpt2/tree/main", "hf:gpt2"],
  ["HF.co/user/tale/tree/main", "hf:user/tale"],
])("the address %s on the Hub is read as an id", (text, source) => {
  expect(namedModel(text)).toMatchObject({ source, elsewhere: "huggingface.co" });
});

it.each(["nothuggingface.co/user/tale", "https://huggingface.co.evil.example/a/b"])("%s is no id", (text) => {
  expect(namedModel(text).source).not.toBe("hf:user/tale");
});

it("an id with characters beyond 16 bits survives in the page's address", () => {
  expect(queryOf(folderModel("hf:user/tale/\u{10000}.gguf"))).toBe("?model=hf:user/tale/%F0%90%80%80.gguf");
});

it("typed text that is not an address is read as an id", () => {
  expect(namedModel("models/demo")).toMatchObject({ source: "hf:models/demo" });
  expect(namedModel("./models/demo").folder).toBe("http://own.example/gpt2/models/demo/");
  expect(namedModel("//evil.example/m/").problem).toBeDefined();
  expect(namedModel("https://evil.example/m/")).toMatchObject({ elsewhere: "evil.example" });
});

const mayContact = (policy: string | undefined, url: string) => {
  document.head.innerHTML =
    policy === undefined ? "" : `<meta http-equiv="Content-Security-Policy" content="${policy}">`;
  return folderModel(url).problem === undefined;
};
it.each([
  [undefined, "https://x.example/", true],
  ["default-src 'none'", "https://x.example/", true],
  ["img-src data:; connect-src", "https://x.example/", false],
  ["connect-src 'self'", "http://own.example/", true],
  ["connect-src 'self'", "https://own.example/", false],
  ["connect-src *", "https://x.example/", true],
  ["connect-src https:", "https://x.example/", true],
  ["connect-src https:", "http://x.example/", false],
  ["x-connect-src https:; connect-src 'self'", "https://x.example/", false],
  ["connect-src https://x.example/models/", "https://x.example/", true],
  ["connect-src x.example", "http://x.example/", true],
  ["connect-src https://X.example", "http://x.example/", false],
  ["connect-src https://x.example", "https://x.example:8443/", false],
  ["connect-src https://x.example:8443", "https://x.example:8443/", true],
  ["connect-src https://*.x.example", "https://a.b.x.example/", true],
  ["connect-src https://*.x.example", "https://x.example/", false],
  ["connect-src https://*.x.example", "https://evilx.example/", false],
])("under the policy %s, whether %s may be contacted is %s", (policy, url, may) =>
  expect(mayContact(policy, url)).toBe(may),
);
