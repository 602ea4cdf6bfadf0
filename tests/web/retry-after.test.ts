// The message about a host that is busy for a long time.
import { expect, it } from "vitest";
import { fetchFile } from "../../web/src/loader/model-source.js";

const { signal } = new AbortController();
const date = "Sun, 22 Nov 2026 00:00:00 GMT";

it.each([
  [503, { "retry-after": "1" }, ": try again in 1 second"],
  [503, { "retry-after": "40" }, ": try again in 40 seconds"],
  [503, { "retry-after": "121" }, ": try again in 3 minutes"],
  [429, { "retry-after": "7200" }, ": try again in 2 hours"],
  [503, { "retry-after": "Sun, 22 Nov 2026 00:10:00 GMT", date }, ": try again in 10 minutes"],
  [503, { "retry-after": "soon" }, ""],
  [503, {}, ""],
  [429, {}, ": try again later"],
  [401, {}, ": set the option headers or credentials"],
])("the error for the answer %i with %o gives the advice '%s'", async (status, headers, advice) => {
  const answer = new Response(null, { status, headers, statusText: "No" });
  await expect(fetchFile("http://host/f", signal, async () => answer)).rejects.toMatchObject({
    code: "network",
    message: `cannot fetch http://host/f: the host answered ${status} No${advice}`,
  });
});

it("a date is relative to this device's clock if the host states none", async () => {
  const headers = { "retry-after": new Date(Date.now() + 9_000_000).toUTCString() };
  const answer = new Response(null, { status: 503, headers });
  const message = expect.stringContaining("try again in 3 hours") as string;
  await expect(fetchFile("http://host/f", signal, async () => answer)).rejects.toMatchObject({ message });
});
