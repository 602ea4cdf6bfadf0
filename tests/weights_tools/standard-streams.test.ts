// The tool's environment: closed or full streams, too little memory, unusual paths.
import { describe, expect, it } from "vitest";
import { refusal, root, shell } from "./tool.js";

describe("standard output that cannot be written", () => {
  it.each([
    "--help",
    "inspect $tiny/tied",
    "generate $tiny/tied --ids 1",
    "generate $tiny/tied --ids 1 --json",
    "convert $tiny/tied $scratch/$RANDOM",
    "random $tiny/tied/config.json $scratch/$RANDOM --json",
    "tokenize $vocabulary --lines",
    "detokenize $vocabulary",
  ])("closed standard output is an error of %s", (command) => {
    const input = /^tokenize.*lines/.test(command) ? '"a"' : "[1]";
    for (const output of [">/dev/full", ">&-"]) {
      const stderr = refusal(shell(`"$tool" ${command} <<< '${input}' ${output}`));
      expect(stderr).toContain("cannot write standard output");
    }
  });

  it("closed standard output ends a command that would print forever", () => {
    const endless = shell(`yes '"a"' | timeout 20 "$tool" tokenize $vocabulary --lines >/dev/full`);
    expect(refusal(endless)).toContain("cannot write standard output");
  });

  it("closed standard output is never mistaken for a file of the model", () => {
    refusal(shell(`"$tool" convert "$tiny/tied" "$scratch/closed" <&- >&-`));
    expect(shell(`"$tool" inspect "$scratch/closed"`).status).toBe(0);
  });
});

it.each(["tokenize", "tokenize --lines", "detokenize", "detokenize --lines", "detokenize --json"])(
  "unreadable standard input is an error of %s",
  (command) => {
    const [name, flag = ""] = command.split(" ");
    for (const input of ["<&-", "<$scratch"]) {
      const stderr = refusal(shell(`"$tool" ${name} $vocabulary ${flag} ${input}`));
      expect(stderr).toContain("cannot read standard input");
    }
  },
);

it.each(["", "--lines", "--json"])(
  "JSON on standard input is refused beyond a limit of depth: %s",
  (flag) => {
    const brackets = "(printf '%.0s[' {1..100000}; printf '%.0s]' {1..100000})";
    expect(refusal(shell(`${brackets} | "$tool" detokenize $vocabulary ${flag}`))).toMatch(/nested|deep|64/);
  },
);

it("paths that are not UTF-8 work, but are refused with --json before anything is written", () => {
  const bad = "$scratch/$'\\xff'";
  expect(refusal(shell(`"$tool" convert $tiny/tied ${bad} --json`))).toContain("is not UTF-8 at byte");
  expect(refusal(shell(`"$tool" random $tiny/tied/config.json ${bad} --json`))).toContain("is not UTF-8");
  expect(shell(`ls -d ${bad}`).status).not.toBe(0);
  expect(shell(`"$tool" convert $tiny/tied ${bad} && "$tool" inspect ${bad}`).status).toBe(0);
  expect(refusal(shell(`"$tool" inspect ${bad} --json`))).toContain("MODEL is");
  const verified = shell(`touch ${bad}.txt && "$tool" verify $tiny/tied --text ${bad}.txt --json`);
  expect(refusal(verified)).toMatch(/--text is .* which is not UTF-8 at byte/);
});

it("a path that the file system cannot follow is an error that names it", () => {
  const loop = shell(`ln -s loop.gguf "$scratch/loop.gguf"; "$tool" inspect "$scratch/loop.gguf"`);
  expect(refusal(loop)).toMatch(/a system call failed: .*loop\.gguf/);
});

it.each([
  [20000, "tokenize $vocabulary"],
  [20000, "eval web/models/demo README.md"],
])("a lack of memory is an error: %i kB for %s", (limit, command) => {
  const out = shell(`cd ${root}; ulimit -v ${limit}; "$tool" ${command} < README.md`);
  expect(refusal(out)).toMatch(/memory/);
});
