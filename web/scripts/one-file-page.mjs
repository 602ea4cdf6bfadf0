// Builds web/dist/one-file.html: the page with scripts, styles, worker and engine in it, and a place for a model.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "rolldown";
import { marker, pageEnding } from "../page/parts/save-file/one-file.mjs";
import { packedClient, packedWorker } from "./one-file.mjs";
import { packageFolder, releaseName } from "./release.mjs";

const page = resolve(import.meta.dirname, "../page");

/** Without a host there is nothing to register with or to contact. */
const noHost = {
  name: "no-host",
  resolveId: (id) =>
    /^\.+\/(models\/)?host\.js$|\/models\/host\.js$/.test(id) ? join(page, "models/host-one-file.ts") : null,
};

/** The page contains all of its style: nothing is fetched later. */
const styleApart = {
  name: "style-apart",
  load: (id) => (id.endsWith(".css") ? { code: "", moduleType: "js" } : null),
};

async function pageScript() {
  const release = releaseName();
  const worker = await packedWorker(release, join(packageFolder, "engine"), { hasLanguages: true });
  const { output } = await build({
    input: join(page, "app.ts"),
    logLevel: "warn",
    write: false,
    transform: {
      target: "es2022",
      define: { GPT2_RELEASE: JSON.stringify(release), GPT2_WORKER: JSON.stringify(worker) },
    },
    plugins: [packedClient, noHost, styleApart],
    output: { format: "es", codeSplitting: false, minify: true, comments: false },
  });
  // Escapes text that would end the element, or begin a comment, in HTML.
  const code = output[0].code.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
  return `${code}\nwindow.gpt2Runs=true;`;
}

/**
 * Reports that the file is damaged if its script has not run by the end of the file. A browser runs no script whose hash
 * differs from the policy's, and none that is cut off.
 */
const guard = (damaged) =>
  `addEventListener("load",()=>{const place=document.querySelector("#starting p");` +
  `if(window.gpt2Runs||!place)return;document.querySelector("#starting h2")?.remove();` +
  `place.textContent=${JSON.stringify(damaged)}});`;

/** `html` after `changes`, [pattern, replacement], each of which must match once. */
function change(html, changes) {
  let changed = html;
  for (const [pattern, replacement] of changes) {
    if (!pattern.test(changed))
      throw new Error(`index.html has nothing like ${pattern}: one-file.html needs it`);
    changed = changed.replace(pattern, () => replacement);
  }
  return changed;
}

const hashOf = (script) => createHash("sha256").update(script).digest("base64");

/**
 * Writes the page to the folder `out`, which contains the page for hosts, from its `source`. `starting` is shown until
 * its scripts run, `damaged` if they do not, and `language` is the script that chooses its language.
 */
export async function buildOneFilePage(out, source, { starting, damaged, language }) {
  const guardScript = guard(damaged);
  const script = await pageScript();
  const assets = join(out, "assets");
  const stylesheets = readdirSync(assets).filter((name) => name.endsWith(".css"));
  // The first paint's styles come first; as on a host, later ones follow.
  stylesheets.sort((a, b) => Number(b.startsWith("index-")) - Number(a.startsWith("index-")));
  if (!stylesheets[0]?.startsWith("index-"))
    throw new Error(`there is no stylesheet index-*.css in ${assets}, expected that of the page`);
  const style = stylesheets.map((name) => readFileSync(join(assets, name), "utf8").trim()).join("\n");
  const icon = readFileSync(join(page, "public/icons/icon.svg")).toString("base64");
  // The browser itself blocks all requests.
  const policy = [
    "default-src 'none'",
    `script-src 'sha256-${hashOf(script)}' 'sha256-${hashOf(language)}' 'sha256-${hashOf(guardScript)}' blob: 'wasm-unsafe-eval'`,
    "worker-src blob:",
    "style-src 'unsafe-inline'",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const html = change(source, [
    [
      /<meta charset="utf-8" \/>/,
      `<meta charset="utf-8" />\n    <meta http-equiv="Content-Security-Policy" content="${policy}" />`,
    ],
    [/<link rel="icon"[^>]*>/, `<link rel="icon" href="data:image/svg+xml;base64,${icon}" />`],
    [/ *<link rel="apple-touch-icon"[^>]*>\n/, ""],
    [/ *<link rel="manifest"[^>]*>\n/, ""],
    [/ *<p class="quiet"><a id="notices"[^]*?<\/p>\n/, ""], // a file beside the page
    [/<link rel="stylesheet"[^>]*>/, `<style>\n${style}\n    </style>`],
    [/<!-- language -->/, `<script>${language}</script><script>${guardScript}</script>`],
    [/(?<=<h2 id="starting-title">[^<]*<\/h2>)[^]*?(?=<\/section>)/, `\n        <p>${starting}</p>\n      `],
    [/<script type="module" src[^>]*><\/script>/, `${marker}\n<script type="module">${script}</script>`],
  ]);
  const ending = pageEnding(createHash("sha256").update(html).digest("hex"));
  writeFileSync(join(out, "one-file.html"), html + ending);
}
