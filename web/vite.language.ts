// The page's language at build time. index.html gets its English, and the few lines that choose another language before
// the first paint. Each part of the page gets only its own section of the English.
import { readFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import type { Plugin, Rolldown } from "vite";
import { chooseLanguage } from "./page/language/choose.mjs";
import { page, scriptless } from "./page/language/en.js";
import { languages } from "./page/language/languages.js";

const pageFolder = resolve(import.meta.dirname, "page");
const marker = "<!-- language -->";

function phraseOf(section: Readonly<Record<string, string>>, key: string): string {
  const phrase = section[key];
  if (phrase === undefined)
    throw new Error(`index.html asks for the phrase "${key}", which en.ts does not have`);
  return phrase.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}

/**
 * `html` with its English inserted: as text of elements with data-phrase or data-english, and in the attributes that
 * data-phrases names.
 */
export function inEnglish(html: string): string {
  return html
    .replace(/\sdata-phrases="([^"]*)"/g, (all, pairs: string) => {
      const attributes = pairs.split(" ").map((pair) => {
        const [name = "", key = ""] = pair.split(":");
        return ` ${name}="${phraseOf(page, key)}"`;
      });
      return all + attributes.join("");
    })
    .replace(
      /(<[a-z][^>]*\sdata-phrase="(\w*)"[^>]*>)(.?)/gs,
      (_, tag: string, key: string, next: string) => {
        if (next !== "<") throw new Error(`index.html: expected nothing in ${tag}, found ${next}`);
        return tag + phraseOf(page, key) + next;
      },
    )
    .replace(
      /(<[a-z][^>]*)\sdata-english="(\w*)"([^>]*>)(.?)/gs,
      (_, tag: string, key: string, end: string, next: string) => {
        if (next !== "<") throw new Error(`index.html: expected nothing in ${tag}${end}, found ${next}`);
        return tag + end + phraseOf(scriptless, key) + next;
      },
    );
}

/** The script that chooses the language, for the marker in index.html; contains the addresses of the words. */
export const languageScript = (scripts: Readonly<Record<string, string>>): string =>
  `(${chooseLanguage.toString()})(${JSON.stringify(scripts)})`;

export function putLanguageScript(html: string, script: string): string {
  if (!html.includes(marker)) throw new Error(`index.html has no ${marker}, where the language is chosen`);
  return html.replace(marker, () => `<script>${script}</script>`);
}

/** Used if there are no words to fetch before the page's own script. */
export const noAddresses: Readonly<Record<string, string>> = Object.fromEntries(
  Object.keys(languages)
    .filter((language) => language !== "en")
    .map((language) => [language, ""]),
);

/** Addresses of the words of a build, by language. */
export function wordsOf(bundle: Rolldown.OutputBundle): Record<string, string> {
  const scripts: Record<string, string> = {};
  for (const part of Object.values(bundle)) {
    const module = part.type === "chunk" ? (part.facadeModuleId ?? "") : "";
    const [, language] = /\/page\/language\/([a-z]{2})\.ts$/.exec(module) ?? [];
    if (language !== undefined) scripts[language] = `./${part.fileName}`;
  }
  return scripts;
}

export function pageEnglish(): Plugin {
  return {
    name: "page-english",
    transformIndexHtml: { order: "pre", handler: inEnglish },
  };
}

/** Gives each section's module an en.ts of its own, so that the bundler leaves the other sections out of its chunk. */
export function languageSections(): Plugin {
  return {
    name: "language-sections",
    apply: "build",
    enforce: "pre",
    async resolveId(id, importer) {
      if (!importer || !/(?:^|\/)en\.js$/.test(id) || !importer.startsWith(pageFolder)) return null;
      if (id !== "./en.js")
        this.error(
          `${importer} imports ${id}, all of the English: expected a section's module, as language/editor.ts`,
        );
      const resolved = await this.resolve(id, importer, { skipSelf: true });
      return resolved && `${resolved.id}?${basename(importer, ".ts")}`;
    },
    load(id) {
      const [, file] = /^(.*\/language\/en\.ts)\?/.exec(id) ?? [];
      return file === undefined ? null : { code: readFileSync(file, "utf8"), moduleType: "ts" };
    },
  };
}
