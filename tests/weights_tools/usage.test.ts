// Arguments that the command line refuses, and the messages.
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { json, scratch, tiny, weights } from "./tool.js";

const model = join(tiny, "tied");

describe("usage", () => {
  it("the exit code is 2 for wrong usage and 1 for bad input", () => {
    for (const args of [
      ["convert"],
      ["generate", model],
      ["generate", model, "--ids", "1", "--wild", "3"],
      ["generate", model, "--ids", "1", "--prompt", "x"],
      ["convert", model, "out", "--weights", "q3"],
    ]) {
      expect(weights(args).status, args.join(" ")).toBe(2);
    }
    for (const args of [
      ["inspect", join(scratch, "nowhere")],
      ["generate", model, "--ids", "1,999"],
      ["generate", model, "--prompt", "text"],
      ["tokenize", model],
      ["eval", model, join(scratch, "nothing")],
      ["generate", model, "--ids", "1", "--strict", "--max-new-tokens", "48"],
    ]) {
      const { status, stderr } = weights(args);
      expect(status, args.join(" ")).toBe(1);
      expect(stderr).toMatch(/^gpt2-weights: .+/);
    }
  });

  it("an error names a command that does not exist", () => {
    const stderr = expect.stringMatching(/^unknown command info\n/);
    expect(weights(["info", model])).toMatchObject({ status: 2, stderr });
    expect(weights([]).stderr).toMatch(/^A subcommand is required\n/);
  });

  it.each(["convert", "inspect", "generate", "eval", "trace", "tokenize", "detokenize", "random"])(
    "the command %s has --help",
    (command) => {
      const { status, stdout } = weights([command, "--help"]);
      expect(status).toBe(0);
      expect(stdout).toContain("--json");
    },
  );
});

describe("numbers", () => {
  const ranges = {
    threads: "a whole number from 0 to 64",
    seed: "a whole number from 0 to 9007199254740991",
    "repetition-penalty": "a number from 0.01 to 100",
    n: "a whole number from 1 to 16",
  };
  const bad = ["", "-1", "0x10", "nan", "inf", "1e99", "5x", " 5", "+5", "1,5", "99999999999999999999999"];

  it.each(Object.entries(ranges))(
    "an error for --%s names the option, its range and the value",
    (option, range) => {
      for (const value of bad) {
        const { status, stderr } = weights(["generate", model, "--ids", "1", `--${option}`, value]);
        expect(stderr).toContain(`--${option} is ${value || "empty"}, expected ${range}\n`);
        expect(status).toBe(2);
      }
    },
  );

  it("number options of the other commands are checked as strictly", () => {
    const config = join(model, "config.json");
    for (const value of bad) {
      for (const [option, range, args] of [
        ["--stride", "16777216", ["eval", model, config]],
        ["--calibration-tokens", "16777216", ["convert", model, join(scratch, "none")]],
        ["--seed", "18446744073709551615", ["random", config, join(scratch, "none")]],
      ] as const) {
        const { status, stderr } = weights([...args, option, value]);
        expect(stderr).toContain(
          `${option} is ${value || "empty"}, expected a whole number from 0 to ${range}\n`,
        );
        expect(status).toBe(2);
      }
    }
  });

  it("number options accept any spelling of a whole number", () => {
    for (const value of ["2", "2.0", "2e0"]) {
      expect(json(["generate", model, "--ids", "1", "--max-new-tokens", value, "--json"]).ids).toHaveLength(
        2,
      );
    }
  });

  it("token ids are numbers separated by commas, at least one", () => {
    for (const ids of ["", ",", "1,", ",1", "1,,2", "1, 2", "1;2", "-1", "0x1", "1.5", "2147483648", "nan"]) {
      for (const command of ["generate", "trace"]) {
        const { status, stderr } = weights([command, model, "--ids", ids]);
        expect(stderr).toContain(`--ids is ${ids || "empty"}, expected token ids from 0 to 2147483647`);
        expect(status).toBe(2);
      }
    }
  });
});

it.each([
  ["inspect", ""],
  ["inspect", model, "--original", ""],
  ["generate", "", "--ids", "1"],
  ["eval", model, ""],
  ["convert", model, ""],
  ["convert", model, join(scratch, "none"), "--calibrate", ""],
  ["random", "", join(scratch, "none")],
  ["tokenize", ""],
])("an empty path is refused: %j", (...args) => {
  const { status, stderr } = weights(args);
  expect(status).toBe(2);
  expect(stderr).toContain("is empty, expected a path");
});
