// A copy of the tree with its own build, in which faulty programs are made. The checkout does not change.
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { aptInstall, buildPackages, testPackages } from "../../engine/toolchain/system-packages.mjs";

const copied = [
  "CMakeLists.txt",
  "CMakePresets.json",
  "README.md",
  "package.json",
  "engine",
  "tests",
  "weights_tools",
  "web/models",
];
const programs = {
  engine_tests: "tests/engine_tests",
  tools_tests: "tests/tools_tests",
  "gpt2-weights": "weights_tools/gpt2-weights",
};

// The build compiles quickly and has assertions. Warnings are no errors, because a fault may leave something unused.
const options = [
  "-DCMAKE_CXX_FLAGS_RELEASE=-O1",
  "-DCMAKE_CXX_FLAGS=-w -D_GLIBCXX_ASSERTIONS",
  "-DGPT2_TESTS=ON",
  "-DGPT2_UNITY=OFF", // a fault then compiles only one file again
];

export class Workspace {
  /** A workspace in `folder` for the tree of `root`. The folder is empty until the first build. */
  constructor(root, folder) {
    this.root = root;
    this.folder = folder;
    this.tree = join(folder, "tree");
    this.build = join(this.tree, "build/native");
    this.files = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "-z", ...copied], {
      cwd: root,
    })
      .toString()
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
    if (!existsSync(join(this.build, "build.ninja"))) {
      execFileSync("cmake", ["--preset", "native", ...options], shown);
    }
    execFileSync(
      "ninja",
      ["-C", this.build, "-j", String(availableParallelism()), ...Object.keys(programs)],
      shown,
    );
    this.#readBuild();
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

  /** The path of a program without a fault. */
  program(name) {
    return join(this.build, programs[name]);
  }

  #copy() {
    const { root, files } = this;
    const stamp = join(this.folder, "copied.json");
    const before = existsSync(stamp) ? JSON.parse(readFileSync(stamp, "utf8")) : {};
    const now = {};
    for (const file of files) {
      now[file] = statSync(join(root, file)).mtimeMs;
      if (before[file] === now[file]) continue;
      mkdirSync(dirname(join(this.tree, file)), { recursive: true });
      cpSync(join(root, file), join(this.tree, file));
    }
    for (const file of Object.keys(before))
      if (!(file in now)) rmSync(join(this.tree, file), { force: true });
    writeFileSync(stamp, JSON.stringify(now));
    const modules = join(this.tree, "node_modules");
    if (!existsSync(modules)) symlinkSync(join(root, "node_modules"), modules);
  }

  // Reads how each object is compiled, and what each program is linked from.
  #readBuild() {
    this.objects = JSON.parse(readFileSync(join(this.build, "compile_commands.json"), "utf8"))
      .map(({ command, file }) => ({
        command,
        output: / -o (\S+)/.exec(command)?.[1],
        source: relative(this.tree, file),
        includes: new Set(),
      }))
      .filter(({ source }) => /^(engine|tests|weights_tools)\//.test(source));
    const byOutput = new Map(this.objects.map((object) => [object.output, object]));
    const ninja = (...args) =>
      execFileSync("ninja", ["-C", this.build, ...args], { encoding: "utf8", maxBuffer: 1 << 28 });
    let current;
    for (const line of ninja("-t", "deps").split("\n")) {
      if (!line.startsWith(" ")) current = byOutput.get(line.split(":")[0]);
      else current?.includes.add(relative(this.tree, resolve(this.build, line.trim())));
    }
    this.links = Object.fromEntries(
      Object.entries(programs).map(([name, path]) => {
        const command = ninja("-t", "commands", name).trim().split("\n").at(-1) ?? "";
        const [before = "", after = ""] = command.split(` -o ${path} `);
        const words = before.replace(/^: && /, "").split(/\s+/);
        return [
          name,
          {
            compiler: words.filter((word) => !word.endsWith(".o")).join(" "),
            objects: words.filter((word) => word.endsWith(".o")),
            libraries: after.replace(/ && :$/, ""),
          },
        ];
      }),
    );
  }
}
