import { execFileSync } from "node:child_process";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { checkEquivalents, readEquivalents } from "./equivalents.mjs";
import { faultsOf } from "./faults.mjs";
import { allFaults, inRandomOrder, mutableFiles } from "./sources.mjs";

const root = resolve(import.meta.dirname, "../..");

/** The faults of `source` as "before -> after". */
const faultsIn = (source: string) => faultsOf(source).map(({ before, after }) => `${before} -> ${after}`);

describe("faultsOf", () => {
  it.each([
    ["return a < b;", ["< -> <=", "< -> >="]],
    ["return a + b * c;", ["+ -> -", "* -> /"]],
    ["{ x = 0; }", ["0 -> 1", "x = 0; -> ;"]],
    ["return 1u;", ["1u -> 0u"]],
    ["return 31;", ["31 -> 32"]],
    ["return 0.5f;", ["0.5f -> (2 * 0.5f)"]],
    ["return !a;", ["! -> "]],
    ["return a && b;", ["&& -> ||"]],
    ["if (a) b();", ["a -> !(a)", "a -> (a) && false", "a -> (a) || true", "b(); -> ;"]],
    ["while (a) continue;", ["a -> !(a)", "a -> (a) && false", "continue; -> ;"]],
    ["switch (a) { case A: f(); break; default: g(); break; }", ["break; -> ;"]],
    ["for (;; ++i) f(i);", ["++ -> --", "f(i); -> ;"]],
    ["return bits >> n;", [">> -> <<"]],
  ])("faultsOf plants the expected faults: %s", (source, expected) => {
    expect(faultsIn(source).sort()).toEqual(expected.sort());
  });

  it.each([
    "// 1 < 2",
    "#include <a> // 1\n#define B(x) \\\n  (x < 1)\n",
    "#ifdef __wasm_relaxed_simd__\na = 1;\n#if B\na = 2;\n#endif\na = 3;\n#else\n#endif\n",
    'return "a < 1";',
    "assert(a < 1);",
    "static_assert(sizeof(a) == 8);",
    "alignas(16) float a;",
    "[[gnu::aligned(16)]] float a;",
    "template <std::size_t n>\nstd::vector<float> F(float* a, std::span<int>& b);",
    "Class(const Class&) = delete;",
    "std::size_t a = b;",
    "a.reserve(17);",
    "return a;",
  ])("faultsOf plants no fault in %j", (source) => {
    expect(faultsIn(source)).toEqual([]);
  });

  it("faultsOf plants faults in code that only WebAssembly compiles", () => {
    expect(faultsIn("#ifdef __wasm_simd128__\na = 1;\n#else\nreturn 2;\n#endif\nreturn 3;")).toEqual([
      "2 -> 3",
      "3 -> 4",
    ]);
  });

  it("faultsOf reports the place of each fault", () => {
    const source = "int F() {\n  return a == b;\n}\n";
    const [fault] = faultsOf(source);
    expect(fault).toMatchObject({ kind: "comparison", line: 2, column: 12, before: "==", after: "!=" });
    expect(source.slice(fault?.start, fault?.end)).toBe("==");
  });
});

describe("the sources", () => {
  const files = mutableFiles(
    execFileSync("git", ["ls-files", "engine", "weights_tools"], { cwd: root, encoding: "utf8" })
      .trim()
      .split("\n"),
  );

  it("the sources have faults in every folder, the same for the same seed, at most one per line", () => {
    const faults = allFaults(root, files, readEquivalents());
    const folders = new Set(faults.map(({ file }) => file.split("/").slice(0, 2).join("/")));
    for (const folder of ["api", "base", "format", "generate", "kernels", "model", "text"])
      expect(folders).toContain(`engine/${folder}`);
    const order = inRandomOrder(faults, 7);
    expect(inRandomOrder(faults, 7)).toEqual(order);
    expect(inRandomOrder(faults, 8)).not.toEqual(order);
    // What changes in one place changes nothing of the order elsewhere.
    const others = ({ file }: { file: string }) => !file.startsWith("engine/text/");
    expect(inRandomOrder(faults.filter(others), 7)).toEqual(order.filter(others));
    expect(new Set(order.map(({ file, line }) => `${file}:${line}`)).size).toBe(order.length);
    expect(new Set(faults.map(({ id }) => id)).size).toBe(faults.length);
  });

  it("every line and fault in equivalent.json exists in the sources", () => {
    expect(() => checkEquivalents(root, files, readEquivalents())).not.toThrow();
    const gone = { file: "engine/text/utf8.cc", code: "return 42;", reason: "a test" };
    expect(() => checkEquivalents(root, files, [gone])).toThrow("stale");
  });
});
