// Standard input and output that are closed, full or no stream at all.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { refusal, scratch, shell, tiny } from "./tool.js";

const text = join(scratch, "text.txt");
writeFileSync(text, "abc");

describe("standard output that takes nothing", () => {
  it.each([
    "--help",
    "generate --help",
    "inspect $tiny/tied",
    "inspect $tiny/tied --original $tiny/tied --json",
    "generate $tiny/tied --ids 1",
    "generate $tiny/tied --ids 1 --json",
    "trace $tiny/tied --ids 1",
    "convert $tiny/tied $scratch/$RANDOM",
    "random $tiny/tied/config.json $scratch/$RANDOM --json",
    "tokenize $vocabulary",
    "tokenize $vocabulary --lines",
    "detokenize $vocabulary",
    "detokenize $vocabulary --lines",
  ])("is an error of %s", (command) => {
    const input = /^tokenize.*lines/.test(command) ? '"a"' : "[1]";
    for (const output of [">/dev/full", ">&-"]) {
      const stderr = refusal(shell(`"$tool" ${command} <<< '${input}' ${output}`));
      expect(stderr).toContain("cannot write standard output");
    }
  });

  it("ends what would print for ever", () => {
    const endless = shell(`yes '"a"' | timeout 20 "$tool" tokenize $vocabulary --lines >/dev/full`);
    expect(refusal(endless)).toContain("cannot write standard output");
  });

  it("is never a file of the model that is written", () => {
    refusal(shell(`"$tool" convert "$tiny/tied" "$scratch/closed" <&- >&-`));
    expect(shell(`"$tool" inspect "$scratch/closed"`).status).toBe(0);
  });
});

describe("standard input that gives nothing", () => {
  it.each(["tokenize", "tokenize --lines", "detokenize", "detokenize --lines", "detokenize --json"])(
    "is an error of %s",
    (command) => {
      const [name, flag = ""] = command.split(" ");
      for (const input of ["<&-", "<$scratch"]) {
        const stderr = refusal(shell(`"$tool" ${name} $vocabulary ${flag} ${input}`));
        expect(stderr).toContain("cannot read standard input");
      }
    },
  );
});
