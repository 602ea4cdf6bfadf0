// The command line, run as a user runs it.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readSafetensors, writeSafetensors } from "../web/support/safetensors.js";
import {
  converted,
  folderOf,
  json,
  refusal,
  root,
  scratch,
  tiedFiles,
  tiny,
  tool,
  vocabulary,
  weights,
} from "./tool.js";

/** What inspect states about each tensor of a converted model. */
function errorsOf(format: string) {
  const { errors } = json(["inspect", converted("tied", format), "--original", join(tiny, "tied"), "--json"]);
  return Object.fromEntries(errors.map((row: { tensor: string }) => [row.tensor, row]));
}

describe("convert", () => {
  it.each(["f32", "f16", "q8", "q4"])(
    "convert makes a %s folder that gives the reference's greedy tokens",
    (format) => {
      const { prompt, ids } = JSON.parse(readFileSync(join(tiny, "tied/golden.json"), "utf8")).greedy;
      const result = json([
        ...["generate", converted("tied", format), "--ids", prompt.join(), "--temperature", "0"],
        ...["--max-new-tokens", String(ids.length), "--json"],
      ]);
      expect(result.ids).toEqual(ids);
      expect(result.finish_reason).toBe("length");
    },
  );

  it.each([
    ["f32", [], "733e8d6bf0b48e554ba0ba0a4cd5b470db8151555026031009f97cf3b827216f"],
    ["q8", [], "bb3a79bd7671edffe698710a93b85c19540d13fe8e552b8486cdcdd02f379913"],
    ["q4", [], "e17fb12128cceb44b93d55482d6cbb193b90e45dc130534fc8ab31dba7ac3473"],
    ["q4", ["--echo"], "b6ccaec9d45659e4f79bcce0f0e2b5dbb07a01c8fe4ce196b386ecaa2118c77f"],
  ])(
    "convert makes the same random weights in %s %s on every machine and number of threads",
    (format, more, hash) => {
      const config = join(scratch, "random.json");
      // There are more rows than threads take at once, and no multiple of it.
      const shape = { n_embd: 96, n_head: 4, n_layer: 2, n_positions: 40, vocab_size: 1500 };
      writeFileSync(config, JSON.stringify(shape));
      const out = join(scratch, `random-${format}-${more.length}`);
      const wanted = ["--weights", format, "--seed", "7", "--json", ...more];
      expect(json(["random", config, out, ...wanted]).sha256).toBe(hash);
      if (process.platform !== "linux") return;
      const alone = ["-c", "0", tool, "random", config, `${out}-alone`, ...wanted]; // on one processor, one thread
      expect(JSON.parse(execFileSync("taskset", alone, { encoding: "utf8" })).sha256).toBe(hash);
    },
  );

  it("convert cuts the weights into pieces of 4 MiB that together are one safetensors file", () => {
    const shape = { n_embd: 512, n_head: 8, n_layer: 1, n_positions: 64, vocab_size: 5000 };
    const out = join(scratch, "wide");
    const config = folderOf({ "config.json": JSON.stringify(shape) });
    json(["random", join(config, "config.json"), out, "--weights", "f32", "--seed", "3", "--json"]);
    const index = JSON.parse(readFileSync(join(out, "weights.json"), "utf8"));
    expect(index.pieces.length).toBeGreaterThan(1);
    expect(index.pieces[0].size).toBe(4 * 1024 * 1024);
    const bytes = Buffer.concat(
      index.pieces.map((piece: { path: string }) => readFileSync(join(out, piece.path))),
    );
    expect(bytes.length).toBe(index.size);
    expect(readSafetensors(bytes).get("wte.weight")).toMatchObject({ dtype: "F32", shape: [5000, 512] });
  });

  it("convert makes q4 folders from a calibration text, or from a text that the model writes", () => {
    const text = join(scratch, "calibration.txt");
    writeFileSync(text, "Once upon a time there was a dog. ".repeat(20));
    const refused = (model: string, ...options: string[]) =>
      refusal(weights(["convert", model, join(scratch, "none"), ...options]));
    const q4 = ["--weights", "q4"];
    expect(refused(join(root, "web/models/demo"), ...q4)).toContain("already converted to q4");
    const onlyQ4 = "--calibrate works only with --weights q4, found q8: leave it out";
    expect(refused(join(tiny, "tied"), "--calibrate", text)).toContain(onlyQ4);
    expect(refused(join(tiny, "tied"), ...q4, "--calibrate", text)).toContain("vocab.json");
    const written = ["convert", join(tiny, "odd-width"), join(scratch, "q4"), "--force", ...q4, "--json"];
    const hash = (tokens: string) => json([...written, "--calibration-tokens", tokens]).sha256 as string;
    expect(hash("0")).toMatch(/^\w{64}$/);
    expect(hash("500")).toBe(hash("500")); // the same input gives the same bytes
    const errors = errorsOf("q4");
    expect(errors["h.0.mlp.c_fc.weight"].format).toBe("q4");
    expect(errors["h.0.mlp.c_fc.weight"].relative_rms_error).toBeLessThan(0.15);
    expect(errors["wte.weight"].format).toBe("q8");
  });
});

describe("damaged folders", () => {
  function damaged(change: (folder: string) => void): string {
    const folder = mkdtempSync(join(scratch, "damaged-"));
    cpSync(converted("tied", "q8"), folder, { recursive: true });
    change(folder);
    return refusal(weights(["inspect", folder]));
  }

  const piece = "model.safetensors.000";
  const write = (name: string, text: string) => (folder: string) => writeFileSync(join(folder, name), text);
  const remove = (name: string) => (folder: string) => rmSync(join(folder, name));
  const patch = (name: string, change: (bytes: Buffer) => unknown) => (folder: string) => {
    const bytes = readFileSync(join(folder, piece));
    change(bytes);
    writeFileSync(join(folder, name), bytes);
  };

  it("an error about a damaged folder names the file and the problem", () => {
    expect(damaged(remove(piece))).toContain(piece);
    expect(damaged(remove("config.json"))).toContain("config.json");
    expect(damaged(write(piece, "short"))).toContain("is 5 bytes, weights.json says");
    const flip = (bytes: Buffer) => bytes.writeUInt8((bytes.at(-1) ?? 0) ^ 1, bytes.length - 1);
    expect(damaged(patch(piece, flip))).toContain("SHA-256");
    const newer = patch("model.safetensors", (bytes) =>
      bytes.write('"version":"9"', bytes.indexOf('"version":"1"')),
    );
    expect(damaged((folder) => (newer(folder), remove("weights.json")(folder)))).toContain(
      'version "9", expected 1 or 2',
    );
    expect(damaged(write("weights.json", "{}"))).toContain("weights.json");
    const unlisted = (folder: string) => {
      const { pieces, size, file, sha256 } = JSON.parse(readFileSync(join(folder, "weights.json"), "utf8"));
      write("weights.json", JSON.stringify({ file, size, sha256, pieces }))(folder);
      copyFileSync(join(tiny, "no-bias/config.json"), join(folder, "config.json"));
    };
    expect(damaged(unlisted)).toContain("config.json");
    const config = readFileSync(join(converted("tied", "q8"), "config.json"), "utf8");
    expect(damaged(write("config.json", `${config}\n`))).toMatch(
      /config\.json is \d+ bytes, weights\.json says \d+/,
    );
    const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
    const other = config.replace('"n_layer"', '"n_Layer"');
    expect(damaged(write("config.json", other))).toContain(
      `config.json has SHA-256 ${sha256(other)}, weights.json says ${sha256(config)}`,
    );
  });
});

describe("inspect", () => {
  // A GPT-2 124M would be half a gigabyte: the counts of the small variants follow from the same table.
  it.each([
    ["tied", { tie: true, bias: true, head: 0 }],
    ["untied-bias", { tie: false, bias: true, head: 97 }],
    ["no-qkv-bias", { tie: true, bias: false, head: 0 }],
  ])("inspect counts the parameters of %s", (name, { tie, bias, head }) => {
    const config = JSON.parse(readFileSync(join(tiny, name, "config.json"), "utf8"));
    const { n_embd: d, n_layer: layers, vocab_size: vocab, n_positions: positions } = config;
    const block = 12 * d * d + 13 * d - (bias ? 0 : 3 * d);
    const expected = vocab * d * (tie ? 1 : 2) + positions * d + layers * block + 2 * d + head;
    expect(json(["inspect", join(tiny, name), "--json"]).parameters.total).toBe(expected);
  });

  it("inspect states the error of each tensor against the original", () => {
    const errors = errorsOf("q8");
    expect(errors["h.0.mlp.c_fc.weight"].relative_rms_error).toBeGreaterThan(0.001);
    expect(errors["h.0.mlp.c_fc.weight"].relative_rms_error).toBeLessThan(0.01);
    expect(errors["ln_f.weight"].relative_rms_error).toBe(0);
  });
});

it.each([["generate", "--json"], ["trace"]])(
  "logits that are not finite are an error of %s",
  (...command) => {
    const tensors = readSafetensors(readFileSync(join(tiny, "tied/model.safetensors")));
    tensors.get("h.1.mlp.c_fc.weight")?.bytes.fill(Buffer.from(Float32Array.of(3e38).buffer));
    const folder = folderOf({ ...tiedFiles(), "model.safetensors": writeSafetensors(tensors) });
    const stderr = refusal(weights([...command, folder, "--ids", "5,17,40,3"]));
    expect(stderr).toMatch(/the logits after position \d \(token id \d+\) are not finite/);
    expect(stderr).toContain('likely cause is tensor "h.1.mlp.c_fc.weight"');
  },
);

describe("trace", () => {
  it("trace prints the contents of golden.json, in its layout", () => {
    const golden = JSON.parse(readFileSync(join(tiny, "odd-width/golden.json"), "utf8"));
    const trace = json([
      ...["trace", join(tiny, "odd-width"), "--ids", golden.ids.join(), "--weights", "f32", "--json"],
    ]);
    expect(trace.ids).toEqual(golden.ids);
    expect(Object.keys(trace.trace)).toEqual(Object.keys(golden.trace));
    expect(trace.logits[3][5]).toBeCloseTo(golden.logits[3][5], 4);
    expect(trace.trace.ln_f[2][7]).toBeCloseTo(golden.trace.ln_f[2][7], 4);
  });
});

describe("tokenize and detokenize", () => {
  it("tokenize and detokenize are each other's inverse, whole and by lines", () => {
    const text = "Hello, world!\n\n  naïve 漢字 😀";
    const ids = weights(["tokenize", vocabulary], text).stdout;
    expect(weights(["detokenize", vocabulary], ids).stdout).toBe(text);
    expect(json(["detokenize", vocabulary, "--json"], ids)).toBe(text);
    const lines = ["a\nb", "", "<|endoftext|>"].map((line) => JSON.stringify(line)).join("\n") + "\n";
    const answers = weights(["tokenize", vocabulary, "--lines"], lines).stdout;
    expect(answers.trim().split("\n")).toHaveLength(3);
    expect(weights(["detokenize", vocabulary, "--lines"], answers).stdout).toBe(lines);
    expect(weights(["tokenize", vocabulary, "--allow-special"], "<|endoftext|>").stdout).toBe("[50256]\n");
  });

  it("tokenize and detokenize name an invalid line", () => {
    const failed = weights(["tokenize", vocabulary, "--lines"], '"good"\nbad\n');
    expect(failed).toMatchObject({ status: 1, stderr: expect.stringContaining("line 2") });
    expect(weights(["detokenize", vocabulary], "[50257]")).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("50257"),
    });
  });
});

describe("eval", () => {
  // A tiny model with a tokenizer of its 160 tokens: ASCII, and some that are never used.
  const tokenOf = (id: number) => (id > 32 && id < 127 ? String.fromCharCode(id) : `<${id}\n>`);
  const tokens = Array.from({ length: 160 }, (_, id) => [tokenOf(id), id]);
  const vocab = JSON.stringify(Object.fromEntries(tokens));
  const folder = folderOf({ ...tiedFiles(), "vocab.json": vocab, "merges.txt": "#version: 0.2\n" });
  const text = join(folder, "text.txt");
  writeFileSync(text, "abcdefgh".repeat(20));

  it("eval states perplexity, stride and speed", () => {
    const result = json(["eval", folder, text, "--stride", "12", "--json"]);
    expect(result).toMatchObject({ tokens: 160, stride: 12 });
    expect(Math.log(result.perplexity)).toBeCloseTo(result.loss, 6);
    expect(refusal(weights(["eval", folder, text, "--stride", "48"]))).toContain("stride is 48");
  });

  it("eval states how much a model differs from its original", () => {
    const divergence = (format: string) => {
      const out = join(folder, format);
      json(["convert", folder, out, "--weights", format, "--json"]);
      return json(["eval", out, text, "--original", folder, "--json"]).kl_divergence as number;
    };
    const [f32, q8, q4] = [divergence("f32"), divergence("q8"), divergence("q4")];
    expect(f32).toBe(0);
    expect(q8).toBeGreaterThan(0);
    expect(q8).toBeLessThan(1e-3);
    expect(q4).toBeGreaterThan(q8);
    expect(q4).toBeLessThan(0.1);
    expect(refusal(weights(["eval", folder, text, "--original", join(tiny, "odd-width")]))).toContain(
      "another model",
    );
  });
});

describe.skipIf(!process.env.GPT2_MODELS)("trained models (GPT2_MODELS)", () => {
  const demo = join(process.env.GPT2_MODELS ?? "", "demo");

  it("trained models write the reference's greedy text", () => {
    const golden = JSON.parse(readFileSync(join(demo, "golden.json"), "utf8"));
    for (const { prompt, greedy_ids } of golden.greedy) {
      const result = json([
        ...["generate", demo, "--weights", "f32", "--prompt", prompt, "--temperature", "0"],
        ...["--max-new-tokens", String(greedy_ids.length), "--ignore-eos", "--json"],
      ]);
      expect(result.ids).toEqual(greedy_ids);
    }
  });

  it("trained models give the reference's logits", () => {
    const golden = JSON.parse(readFileSync(join(demo, "golden.json"), "utf8"));
    const { logits } = json([
      ...["trace", demo, "--ids", golden.text_ids.join(), "--weights", "f32", "--json"],
    ]);
    const last = logits.slice(-4);
    golden.last_4_logits.forEach((row: number[], r: number) =>
      row.forEach((value, i) => expect(Math.abs(last[r][i] - value)).toBeLessThan(1e-3)),
    );
  });
});
