// `npm start` and `npm test` install the packages themselves, so the files that they load before import none.
import { join } from "node:path";
import { build } from "esbuild";
import { expect, it } from "vitest";
import { root } from "../../engine/toolchain/build.mjs";

it.each(["web/scripts/start.mjs", "tests/run.mjs", "engine/toolchain/build.mjs", "weights_tools/run.mjs"])(
  "%s starts in a checkout without node_modules",
  async (script) => {
    const { metafile } = await build({
      entryPoints: [join(root, script)],
      absWorkingDir: root,
      outdir: join(root, "build/without-packages"),
      bundle: true,
      write: false,
      metafile: true,
      platform: "node",
      format: "esm",
      packages: "external",
      logLevel: "silent",
    });
    const packages: string[] = [];
    // The list grows during the loop. Modules in import() load later, after the packages are installed.
    const loaded = new Set([script]);
    for (const file of loaded) {
      for (const { path, kind, external } of metafile.inputs[file]?.imports ?? []) {
        if (kind !== "import-statement" || path.startsWith("node:")) continue;
        if (external) packages.push(`${file} imports ${path}`);
        else loaded.add(path);
      }
    }
    expect(packages).toEqual([]);
  },
);
