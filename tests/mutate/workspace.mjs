// A copy of the tree with its own build, in which faults are planted. The checkout does not change.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { aptInstall, buildPackages, testPackages } from "../../engine/toolchain/system-packages.mjs";
import { limits, run } from "./program.mjs";

const copied =
  "CMakeLists.txt CMakePresets.json README.md package.json engine tests weights_tools web/models".split(" ");
const programs = {
  engine_tests: "tests/engine_tests",
  tools_tests: "tests/tools_tests",
  "gpt2-weights": "weights_tools/gpt2-weights",
};

// Quick to compile, with assertions; warnings are no errors, as a fault may leave something unused.
const options = [
  "-DCMAKE_CXX_FLAGS_RELEASE=-O1",
  "-DCMAKE_CXX_FLAGS=-w -D_GLIBCXX_ASSERTIONS",
  "-DGPT2_TESTS=ON",
  "-DGPT2_UNITY=OFF", // a fault then compiles only one file again
];

export class Workspace {
  /** For the tree of `root`, in `folder`; nothing is there before it is made. */
  constructor(root, folder) {
    this.root = root;
    this.folder = folder;
    this.tree = join(folder, "tree");
    this.build = join(this.tree, "build/native");
    const listed = ["ls-files", "-co", "--exclude-standard", "-z", ...copied];
    this.files = execFileSync("git", listed, { cwd: root, encoding: "utf8" })
      .split("\0")
      .filter((file) => file !== "" && existsSync(join(root, file)));
  }

  /** Copies and builds the files that have changed since the last time. */
  make() {
    this.#lock();
    aptInstall([...buildPackages, ...testPackages]);
    this.#copy();
    /** @type {import("node:child_process").ExecFileSyncOptions} */
    const shown = { cwd: this.tree, stdio: ["ignore", "ignore", "inherit"] };
    if (!existsSync(join(this.build, "build.ninja")))
      execFileSync("cmake", ["--preset", "native", ...options], shown);
    execFileSync("ninja", ["-C", this.build, ...Object.keys(programs)], shown);
  }

  /** Calls `use` while `fault` is planted. If the process is killed meanwhile, the next run copies the file again. */
  async withFault(fault, use) {
    const path = join(this.tree, fault.file);
    const source = readFileSync(path, "utf8");
    writeFileSync(path, source.slice(0, fault.start) + fault.after + source.slice(fault.end));
    try {
      return await use();
    } finally {
      writeFileSync(path, source);
    }
  }

  /** Compiles what has changed. Resolves to the program's path, or to undefined where it does not compile. */
  async program(name) {
    const { isOk } = await run(`ninja ${name}`, { cwd: this.build, cpuSeconds: 120, wallSeconds: 3600 });
    return isOk ? join(this.build, programs[name]) : undefined;
  }

  /** A script that starts the program at `path` with bounded time and memory, under the program's own name. */
  limited(path) {
    const script = join(this.folder, "limited/gpt2-weights");
    mkdirSync(dirname(script), { recursive: true });
    writeFileSync(script, `#!/bin/sh\n${limits(60)}\nexec ${path} "$@"\n`);
    chmodSync(script, 0o755);
    return script;
  }

  // Two runs at once would plant their faults in each other's sources.
  #lock() {
    mkdirSync(this.folder, { recursive: true });
    const file = join(this.folder, "run.pid");
    const other = existsSync(file) ? Number(readFileSync(file, "utf8")) : 0;
    if (other !== 0 && existsSync(`/proc/${other}`)) {
      throw new Error(`process ${other} is planting faults in ${this.folder}; wait for it to end`);
    }
    writeFileSync(file, String(process.pid));
    process.on("exit", () => rmSync(file, { force: true }));
  }

  /** Copies only what differs: a copied file is compiled again. */
  #copy() {
    const tests = join(this.tree, "tests");
    mkdirSync(tests, { recursive: true });
    for (const name of readdirSync(tests, { recursive: true, encoding: "utf8" }))
      if (!existsSync(join(this.root, "tests", name)))
        rmSync(join(tests, name), { recursive: true, force: true });
    for (const file of this.files) {
      const [from, to] = [join(this.root, file), join(this.tree, file)];
      if (existsSync(to) && readFileSync(from).equals(readFileSync(to))) continue;
      mkdirSync(dirname(to), { recursive: true });
      cpSync(from, to);
    }
    const modules = join(this.tree, "node_modules");
    if (!existsSync(modules)) symlinkSync(join(this.root, "node_modules"), modules);
  }
}
