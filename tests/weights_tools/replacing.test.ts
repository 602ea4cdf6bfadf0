// The folders that `convert` and `random` may replace, and those that they refuse.
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
import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { contents, converted, json, refusal, scratch, shell, tiny, tool, weights } from "./tool.js";

const tied = join(tiny, "tied");
const other = join(tiny, "odd-width");
const fresh = () => mkdtempSync(join(scratch, "replacing-"));

/** A converted model in a new folder. */
function model(folder = fresh()): string {
  const out = join(folder, "out");
  cpSync(converted("tied", "q8"), out, { recursive: true });
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
    for (const make of [
      model,
      () => {
        const out = join(fresh(), "out");
        cpSync(tied, out, { recursive: true, filter: (path) => !path.endsWith("golden.json") });
        return out;
      },
      () => {
        const out = join(fresh(), "out");
        mkdirSync(out);
        return out;
      },
    ]) {
      const out = make();
      expect(refusal(weights(["convert", other, out]))).toContain("already exists: --force replaces it");
      json(["convert", other, out, "--force", "--json"]);
      expect(contents(out)).toEqual(contents(converted("odd-width", "q8")));
      expect(readdirSync(join(out, ".."))).toEqual(["out"]);
    }
  });

  it("--force replaces no folder with other contents, and names them", () => {
    for (const [make, found] of [
      [(out: string) => writeFileSync(join(out, "thesis.txt"), "dear"), 'the file "thesis.txt"'],
      [(out: string) => writeFileSync(join(out, ".hidden"), "dear"), 'the file ".hidden"'],
      [(out: string) => mkdirSync(join(out, "model.safetensors.777")), 'the folder "model.safetensors.777"'],
      [(out: string) => symlinkSync("nowhere", join(out, "vocab.json")), 'the symbolic link "vocab.json"'],
      [(out: string) => rmSync(join(out, "config.json")), "has no config.json"],
      [(out: string) => rmSync(join(out, "model.safetensors.000")), "has no weights"],
    ] as const) {
      const out = model();
      make(out);
      const stderr = refusedUntouched(["convert", other, out, "--force"], join(out, ".."));
      expect(stderr).toContain(found);
    }
  });

  it("--force replaces no file, link or pipe", () => {
    const folder = fresh();
    const out = model(folder);
    writeFileSync(join(folder, "file"), "dear");
    symlinkSync("out", join(folder, "link"));
    symlinkSync("nowhere", join(folder, "dangling"));
    spawnSync("mkfifo", [join(folder, "pipe")]);
    for (const [name, kind] of [
      ["file", "is a file"],
      ["link", "is a symbolic link"],
      ["dangling", "is a symbolic link"],
      ["pipe", "is a special file"],
    ] as const) {
      for (const slash of ["", "/"]) {
        for (const force of [[], ["--force"]]) {
          const stderr = refusal(weights(["convert", other, join(folder, name) + slash, ...force]));
          expect(stderr).toContain(kind);
        }
      }
    }
    expect(readFileSync(join(folder, "file"), "utf8")).toBe("dear");
    expect(contents(out)).toEqual(contents(converted("tied", "q8")));
    expect(readdirSync(folder).sort()).toEqual(["dangling", "file", "link", "out", "pipe"]);
  });

  it("--force replaces neither the current folder, nor its parents, nor the root", () => {
    const out = model();
    mkdirSync(join(fresh(), "empty"));
    for (const [path, found] of [
      [".", "expected the name of a new folder"],
      ["..", "expected the name of a new folder"],
      ["./", "expected the name of a new folder"],
      ["/", "expected the name of a new folder"],
      ["sub/..", "expected the name of a new folder"],
      ["$PWD", "is the input or the current folder"],
      ["../out", "is the input or the current folder"],
    ] as const) {
      const before = contents(out);
      const stderr = refusal(shell(`cd ${out} && "$tool" convert ${other} "${path}" --force`));
      expect(stderr).toContain(found);
      expect(contents(out)).toEqual(before);
    }
    mkdirSync(join(out, "sub"));
    expect(refusal(shell(`cd ${out}/sub && "$tool" convert ${other} ${out} --force`))).toContain(
      'the folder "sub"',
    );
    expect(existsSync(join(out, "weights.json"))).toBe(true);
  });
});

describe("the input folder", () => {
  /** A separate hub folder. */
  function hub(): string {
    const input = join(fresh(), "in");
    cpSync(tied, input, { recursive: true, filter: (path) => !path.endsWith("golden.json") });
    return input;
  }

  it("the input folder is not replaced, whatever path leads to it", () => {
    const input = hub();
    const folder = join(input, "..");
    symlinkSync("in", join(folder, "link"));
    symlinkSync(".", join(folder, "here"));
    for (const [from, to] of [
      [input, input],
      [input, `${input}/`],
      [input, `${input}//`],
      [input, join(folder, "here/in")],
      [input, `${folder}/link/../in`],
      [join(folder, "link"), input],
      [`${input}/.`, input],
    ] as const) {
      for (const force of [[], ["--force"]]) {
        const stderr = refusedUntouched(["convert", from, to, ...force], input);
        expect(stderr).toContain("is the input or the current folder");
      }
    }
    refusedUntouched(["convert", input, join(folder, "link"), "--force"], input);
    refusedUntouched(["random", join(input, "config.json"), input, "--force"], input);
    expect(readdirSync(folder).sort()).toEqual(["here", "in", "link"]);
  });

  it("the input folder is not replaced if a bind mount leads to it", (test) => {
    const input = hub();
    const script = `mkdir ${input}2 && mount --bind ${input} ${input}2 || exit 77
      "$tool" convert ${input} ${input}2 --force`;
    const result = spawnSync("unshare", ["--mount", "--map-root-user", "bash", "-c", script], {
      env: { ...process.env, tool },
      encoding: "utf8",
    });
    if (result.error || result.status === 77 || result.stderr.startsWith("unshare")) return test.skip();
    expect(refusal(result)).toContain("is the input or the current folder");
    expect(existsSync(join(input, "model.safetensors"))).toBe(true);
  });

  it("the input folder keeps files that OUT links to", () => {
    for (const link of [symlinkSync, linkSync]) {
      const input = hub();
      const out = join(input, "../out");
      cpSync(input, out, { recursive: true });
      rmSync(join(input, "model.safetensors"));
      link(join(out, "model.safetensors"), join(input, "model.safetensors"));
      const stderr = refusedUntouched(["convert", input, out, "--force"], out);
      expect(stderr).toContain('has the file "model.safetensors", which belongs to the input');
    }
  });

  it("the input folder may contain OUT", () => {
    const input = hub();
    json(["convert", input, join(input, "q8"), "--json"]);
    json(["convert", input, join(input, "q8"), "--force", "--json"]);
    expect(existsSync(join(input, "model.safetensors"))).toBe(true);
  });
});

describe("folders of other programs", () => {
  it("folders named OUT.partial of other programs stay", () => {
    const folder = fresh();
    for (const name of ["out.partial", "out.partial-12345678", "out.old-12345678", "out.partial-backup"]) {
      mkdirSync(join(folder, name));
      writeFileSync(join(folder, name, "thesis.txt"), "dear");
    }
    const { status, stderr } = weights(["convert", tied, join(folder, "out")]);
    expect(status).toBe(0);
    // Folders that a killed run may have left are named, and not removed.
    expect(stderr.match(/note: a killed run left .*out\.(partial|old)-12345678 behind/g)).toHaveLength(2);
    expect(stderr).not.toContain("backup");
    for (const name of ["out.partial", "out.partial-12345678", "out.old-12345678", "out.partial-backup"]) {
      expect(readFileSync(join(folder, name, "thesis.txt"), "utf8")).toBe("dear");
    }
  });

  it("missing folders above OUT are created, and removed again if convert fails", () => {
    const folder = fresh();
    json(["convert", tied, join(folder, "a/b/out"), "--json"]);
    expect(existsSync(join(folder, "a/b/out/weights.json"))).toBe(true);
    refusal(shell(`ulimit -f 8; "$tool" convert ${tied} ${folder}/c/d/out --weights f32`));
    expect(readdirSync(folder)).toEqual(["a"]);
  });
});

describe("two runs at once", () => {
  const start = (args: string[]) =>
    new Promise<{ status: number | null; stderr: string }>((resolve) => {
      const child = spawn(tool, args, { stdio: ["ignore", "ignore", "pipe"] });
      let stderr = "";
      child.stderr.on("data", (data: Buffer) => (stderr += String(data)));
      child.on("close", (status) => resolve({ status, stderr }));
    });

  it("of two runs for one OUT, one succeeds and the other reports that OUT exists", async () => {
    for (let run = 0; run < 8; ++run) {
      const folder = fresh();
      const out = join(folder, "out");
      const results = await Promise.all([tied, other, tied].map((input) => start(["convert", input, out])));
      const losers = results.filter(({ status }) => status !== 0);
      expect(losers).toHaveLength(2);
      for (const loser of losers) expect(refusal(loser)).toContain("already exists: --force replaces it");
      const winner = results[1]?.status === 0 ? "odd-width" : "tied";
      expect(contents(out)).toEqual(contents(converted(winner, "q8")));
      expect(readdirSync(folder)).toEqual(["out"]);
    }
  });

  it("several runs for one OUT with --force all succeed, and one complete model remains", async () => {
    for (let run = 0; run < 8; ++run) {
      const out = model();
      const inputs = [tied, other, tied, other];
      const results = await Promise.all(inputs.map((input) => start(["convert", input, out, "--force"])));
      expect(results.map(({ status, stderr }) => [status, stderr])).toEqual(inputs.map(() => [0, ""]));
      const wanted = ["tied", "odd-width"].map((name) => contents(converted(name, "q8")));
      expect(wanted).toContainEqual(contents(out));
      expect(readdirSync(join(out, ".."))).toEqual(["out"]);
    }
  });

  it("two runs from one IN give the same bytes", async () => {
    const folder = fresh();
    const outs = ["a", "b"].map((name) => join(folder, name));
    const results = await Promise.all(outs.map((out) => start(["convert", tied, out])));
    expect(results.map(({ status }) => status)).toEqual([0, 0]);
    for (const out of outs) expect(contents(out)).toEqual(contents(converted("tied", "q8")));
  });

  it("a reader sees the old model or the new one, never a mixture", async () => {
    const out = model();
    const state = { isDone: false };
    const writing = (async () => {
      for (let i = 0; i < 10; ++i) await start(["convert", i % 2 ? tied : other, out, "--force"]);
      state.isDone = true;
    })();
    while (!state.isDone) {
      const { status, stderr } = await start(["inspect", out]);
      // Its files may be removed while it reads; it never finds them to belong to different models.
      if (status !== 0) expect(stderr).toMatch(/cannot read .*: (No such file|Not a directory)/);
    }
    await writing;
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
    const before = contents(out);
    refusal(shell(`ulimit -f 8; "$tool" convert ${tied} ${out} --weights f32 --force`));
    expect(contents(join(out, ".."))).toEqual(
      Object.fromEntries(Object.entries(before).map(([k, v]) => [`out/${k}`, v])),
    );
  });

  it("an output that cannot be written is detected before the main work", () => {
    const { stderr } = weights(["convert", join(scratch, "nowhere"), "/proc/out"]);
    expect(stderr).toMatch(/cannot (write into|create|read)/);
  });
});

describe("signals", () => {
  it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("%s removes the half-written folder", async (signal) => {
    const folder = fresh();
    const config = join(folder, "config.json");
    writeFileSync(
      config,
      JSON.stringify({ n_embd: 512, n_head: 8, n_layer: 2, n_positions: 64, vocab_size: 8000 }),
    );
    const child = spawn(tool, ["random", config, join(folder, "new/out"), "--weights", "f32"], {
      stdio: "ignore",
    });
    const ended = new Promise((resolve) => child.on("close", (_, by) => resolve(by)));
    while (!existsSync(join(folder, "new")) || !readdirSync(join(folder, "new")).length) {
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    child.kill(signal);
    expect(await ended).toBe(signal);
    expect(readdirSync(folder)).toEqual(["config.json"]);
  });
});
