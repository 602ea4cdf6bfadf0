// The parts of the page's address that the page itself writes.
import { expect, it, vi } from "vitest";
import { keepView } from "../../../web/page/dom/view-address.js";

it.each([
  "https://host/gpt2/",
  "https://host//gpt2/",
  "https://host///x/index.html",
  "file:///home/gpt2.html",
])("a view is kept in the address of this page: %s", (page) => {
  let shown = new URL(`${page}?model=m/#view=tokens`);
  vi.stubGlobal("location", shown);
  const replaceState = (_state: unknown, _title: string, address: string) =>
    (shown = new URL(address, shown));
  vi.stubGlobal("history", { replaceState });
  keepView("rank");
  expect(shown.href).toBe(`${page}?model=m/#view=rank`);
});
