// The files of the built site.
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const site = resolve(import.meta.dirname, "../../build/docs");

/** Paths of its pages, below its base. */
export const pages = readdirSync(site, { recursive: true, encoding: "utf8" }).filter(
  (path) => path.endsWith(".html") && path !== "404.html",
);
export const files = new Set(readdirSync(site, { recursive: true, encoding: "utf8" }));
export const html = (path: string) => readFileSync(join(site, path), "utf8");

/** The pages with live examples. */
export const livePages = pages.filter((page) => html(page).includes("data-live="));
