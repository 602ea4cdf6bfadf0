// Where `convert` and `random` write, what they may replace, and what an error, a signal or a kill leaves there.
import {
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { contents, converted, json, refusal, scratch, shell, start, tiny, tool, weights } from "./tool.js";

const tied = join(tiny, "tied");
const other = join(tiny, "odd-width");
const fresh = () => mkdtempSync(join(scratch, "replacing-"));

/** A copy of `from` in a new folder, by default a converted model. */
function model(from = converted("tied", "q8")): string {
  const out = join(fresh(), "out");
  cpSync(from, out, { recursive: true, filter: (path) => !path.endsWith("golden.json") });
  return out;
}

/** Expects that `args` are refused, and that neither the folder nor the files beside it change. */
function refusedUntouched(args: string[], folder: string): string {
  const before = contents(folder);
  const stderr = refusal(weights(args));
  expect(contents(folder)).toEqual(before);
  return stderr;
}

describe("--force", () => {
  it("--force replaces a converted folder, a plain hub folder and an empty folder", () => {
    const empty = join(fresh(), "out");
    mkdirSync(empty);
    for (const out of [model(), model(tied), empty]) {
      expect(refusal(weights(["convert", other, out]))).toContain("already exists: --force replaces it");
      json(["convert", other, out, "--force", "--json"]);
      expect(contents(out)).toEqual(contents(converted("odd-width", "q8")));
      expect(readdirSync(join(out, ".."))).toEqual(["out"]);
    }
  });

  it.each([
    [(out: string) => writeFileSync(join(out, ".hidden"), "dear"), 'the file ".hidden"'],
    [(out: string) => mkdirSync(join(out, "model.safetensors.777")), 'the folder "model.safetensors.777"'],
    [(out: string) => symlinkSync("nowhere", join(out, "vocab.json")), 'the symbolic link "vocab.json"'],
    [(out: string) => rmSync(join(out, "config.json")), "has no config.json"],
    [(out: string) => rmSync(join(out, "model.safetensors.000")), "has no weights"],
  ])("--force replaces no folder with other contents (%#), and names them", (make, found) => {
    const out = model();
    make(out);
    expect(refusedUntouched(["convert", other, out, "--force"], join(out, ".."))).toContain(found);
  });

  it("--force replaces no file, link or pipe", () => {
    const out = model();
    const folder = join(out, "..");
    writeFileSync(join(folder, "file"), "dear");
    symlinkSync("out", join(folder, "link"));
    symlinkSync("nowhere", join(folder, "dangling"));
    spawnSync("mkfifo", [join(folder, "pipe")]);
    for (const [path, kind] of [
      ["file", "is a file"],
      ["link", "is a symbolic link"],
      ["link/", "is a symbolic link"],
      ["dangling", "is a symbolic link"],
      ["pipe", "is a special file"],
    ] as const) {
      expect(refusal(weights(["convert", other, join(folder, path), "--force"]))).toContain(kind);
    }
    expect(readFileSync(join(folder, "file"), "utf8")).toBe("dear");
    expect(contents(out)).toEqual(contents(converted("tied", "q8")));
    expect(readdirSync(folder).sort()).toEqual(["dangling", "file", "link", "out", "pipe"]);
  });

  it.each([
    [".", "expected the name of a new folder"],
    ["./", "expected the name of a new folder"],
    ["/", "expected the name of a new folder"],
    ["sub/..", "expected the name of a new folder"],
    ["$PWD", "is the input or the current folder"],
    ["../out", "is the input or the current folder"],
  ])("--force does not replace %s", (path, found) => {
    const out = model();
    expect(refusal(shell(`cd ${out} && "$tool" convert ${other} "${path}" --force`))).toContain(found);
    expect(contents(out)).toEqual(contents(converted("tied", "q8")));
  });
});

describe("the input folder", () => {
  it("the input folder is not replaced, whatever path leads to it", () => {
    const input = model(tied);
    const folder = join(input, "..");
    symlinkSync("out", join(folder, "link"));
    symlinkSync(".", join(folder, "here"));
    for (const [from, to] of [
      [input, input],
      [input, `${input}//`],
      [input, join(folder, "here/out")],
      [input, `${folder}/link/../out`],
      [join(folder, "link"), input],
    ] as const) {
      for (const force of [[], ["--force"]]) {
        const stderr = refusedUntouched(["convert", from, to, ...force], input);
        expect(stderr).toContain("is the input or the current folder");
      }
    }
    refusedUntouched(["convert", input, join(folder, "link"), "--force"], input);
    refusedUntouched(["random", join(input, "config.json"), input, "--force"], input);
    expect(readdirSync(folder).sort()).toEqual(["here", "link", "out"]);
  });

  it("the input folder keeps files that OUT links to", () => {
    for (const link of [symlinkSync, linkSync]) {
      const input = model(tied);
      const out = model(tied);
      rmSync(join(input, "model.safetensors"));
      link(join(out, "model.safetensors"), join(input, "model.safetensors"));
      const stderr = refusedUntouched(["convert", input, out, "--force"], out);
      expect(stderr).toContain('has the file "model.safetensors", which belongs to the input');
    }
  });

  it("the input folder may contain OUT", () => {
    const input = model(tied);
    json(["convert", input, join(input, "q8"), "--json"]);
    json(["convert", input, join(input, "q8"), "--force", "--json"]);
    expect(existsSync(join(input, "model.safetensors"))).toBe(true);
  });
});

const startTool = (...args: string[]) => start(args, {}, tool);

describe("two runs at once", () => {
  it("of three runs for one OUT, one succeeds and the others report that OUT exists", async () => {
    const out = join(fresh(), "out");
    const results = await Promise.all(
      [tied, other, tied].map((input) => startTool("convert", input, out).ended),
    );
    const losers = results.filter(({ status }) => status !== 0);
    expect(losers).toHaveLength(2);
    for (const loser of losers) expect(refusal(loser)).toContain("already exists: --force replaces it");
    const winner = results[1]?.status === 0 ? "odd-width" : "tied";
    expect(contents(out)).toEqual(contents(converted(winner, "q8")));
    expect(readdirSync(join(out, ".."))).toEqual(["out"]);
  });

  it("several runs for one OUT with --force all succeed, and one complete model remains", async () => {
    const wanted = ["tied", "odd-width"].map((name) => contents(converted(name, "q8")));
    for (let run = 0; run < 4; ++run) {
      const out = model();
      const inputs = [tied, other, tied, other];
      const results = await Promise.all(
        inputs.map((input) => startTool("convert", input, out, "--force").ended),
      );
      expect(results.map(({ status, stderr }) => [status, stderr])).toEqual(inputs.map(() => [0, ""]));
      expect(wanted).toContainEqual(contents(out));
      expect(readdirSync(join(out, ".."))).toEqual(["out"]);
    }
  });
});

describe("outputs that cannot be written", () => {
  it("an output that cannot be written is an error, and leaves nothing behind", () => {
    const folder = fresh();
    const limited = refusal(shell(`ulimit -f 8; "$tool" convert ${tied} ${folder}/out --weights f32`));
    expect(limited).toMatch(/cannot write .*model\.safetensors\.000: File too large/);
    const long = "x".repeat(250);
    expect(refusal(weights(["convert", tied, join(folder, long)]))).toContain("File name too long");
    writeFileSync(join(folder, "file"), "");
    expect(refusal(weights(["convert", tied, join(folder, "file/out")]))).toContain("Not a directory");
    expect(readdirSync(folder)).toEqual(["file"]);
  });

  it("a full disk keeps the old model", () => {
    const out = model();
    refusal(shell(`ulimit -f 8; "$tool" convert ${tied} ${out} --weights f32 --force`));
    expect(contents(out)).toEqual(contents(converted("tied", "q8")));
    expect(readdirSync(join(out, ".."))).toEqual(["out"]);
  });

  it("missing folders above OUT are created", () => {
    const folder = fresh();
    json(["convert", tied, join(folder, "a/b/out/"), "--json"]);
    expect(existsSync(join(folder, "a/b/out/weights.json"))).toBe(true);
  });
});

describe("a run that ends early", () => {
  const large = { n_embd: 512, n_head: 8, n_layer: 2, n_positions: 64, vocab_size: 8000 };

  it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("%s removes the half-written folder", async (signal) => {
    const folder = fresh();
    const config = join(folder, "config.json");
    writeFileSync(config, JSON.stringify(large));
    const { child, ended } = startTool("random", config, join(folder, "out"), "--weights", "f32");
    await vi.waitUntil(() => readdirSync(folder).length > 1, { interval: 2, timeout: 50_000 });
    child.kill(signal);
    expect((await ended).signal).toBe(signal);
    expect(readdirSync(folder)).toEqual(["config.json"]);
  });

  it("a kill at any moment leaves the old model or the new one, complete", { timeout: 300_000 }, async () => {
    const config = join(fresh(), "config.json");
    writeFileSync(config, JSON.stringify({ ...large, n_embd: 256, n_layer: 1, vocab_size: 16000 }));
    const oldModel = join(fresh(), "old");
    json(["random", config, oldModel, "--weights", "f32", "--json"]); // has some pieces
    const newModel = join(fresh(), "new");
    const begin = performance.now();
    json(["convert", oldModel, newModel, "--weights", "f16", "--json"]);
    const usual = performance.now() - begin;
    const wanted = [contents(oldModel), contents(newModel)];
    const kills = Number(process.env.GPT2_KILLS ?? 20);
    for (let kill = 0; kill < kills; ++kill) {
      const out = model(oldModel);
      const { child, ended } = startTool("convert", oldModel, out, "--weights", "f16", "--force");
      setTimeout(() => child.kill("SIGKILL"), (1.2 * usual * kill) / kills);
      await ended;
      expect(wanted).toContainEqual(contents(out));
    }
  });
});
