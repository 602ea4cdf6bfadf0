// The error names the directive of a content security policy, as soon as the browser reports it.
import { beforeEach, expect, it, vi } from "vitest";
import { namingPolicy, PolicyWatch } from "../../web/src/shared/policy.js";

let page: EventTarget;
beforeEach(() => {
  page = new EventTarget();
  vi.stubGlobal("document", page);
});

const violate = (effectiveDirective: string, blockedURI: string, disposition = "enforce") =>
  page.dispatchEvent(
    Object.assign(new Event("securitypolicyviolation"), { effectiveDirective, blockedURI, disposition }),
  );
const url = "https://host.example/m/config.json#x";
const failing = async () => Promise.reject(new TypeError("Failed to fetch"));

it.each([
  ["before", () => violate("connect-src", "https://host.example/m/config.json")],
  ["after", () => void setTimeout(() => violate("connect-src", "https://host.example/m/config.json"))],
])("a blocked request's error names the directive, even if the browser reports it %s", async (_, tell) => {
  const request = namingPolicy(url, () => {
    tell();
    return failing();
  });
  await expect(request).rejects.toMatchObject({
    code: "network",
    message:
      `cannot fetch ${url}: the Content-Security-Policy forbids it. ` +
      "Add https://host.example, and each host that it redirects to, to connect-src",
  });
});

it("a failed request keeps its own error if no policy forbids it", async () => {
  const request = namingPolicy(url, () => {
    violate("connect-src", "https://host.example/m/other.json");
    violate("connect-src", "https://host.example/m/config.json", "report");
    return failing();
  });
  await expect(request).rejects.toThrow("Failed to fetch");
  vi.stubGlobal("document", undefined); // as in Node.js
  await expect(namingPolicy(url, failing)).rejects.toThrow("Failed to fetch");
});

it("a stopped watch receives nothing", () => {
  const watch = new PolicyWatch();
  violate("worker-src", "blob");
  expect(watch.blockedBy("worker-src")).toBe("blob");
  expect(watch.blockedBy("connect-src")).toBeUndefined();
  watch.end();
  violate("connect-src", "blob");
  expect(watch.blockedBy("connect-src")).toBeUndefined();
});
