// Programs with a fault: affected files are compiled again, and all others come from the workspace.
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { limits, run } from "./program.mjs";

const compiling = { cpuSeconds: 120, wallSeconds: 1200 };

export class FaultyPrograms {
  /** Plants `fault` in a separate folder for `slot`, below that of `workspace`. */
  constructor(workspace, fault, slot) {
    this.workspace = workspace;
    this.fault = fault;
    this.folder = join(workspace.folder, `slot-${slot}`);
    rmSync(this.folder, { recursive: true, force: true });
    this.faulty = join(this.folder, fault.file);
    mkdirSync(dirname(this.faulty), { recursive: true });
    const source = readFileSync(join(workspace.tree, fault.file), "utf8");
    if (source.slice(fault.start, fault.end) !== fault.before) {
      throw new Error(`${fault.file} has changed since the run began`);
    }
    writeFileSync(this.faulty, source.slice(0, fault.start) + fault.after + source.slice(fault.end));
    this.affected = workspace.objects.filter(
      ({ source: from, includes }) => from === fault.file || includes.has(fault.file),
    );
    this.compiled = new Map(); // where an object with the fault lies, by the one whose place it takes
    this.linked = new Map(); // where a program lies, or undefined, by its name and tests
  }

  /**
   * Makes a program with all of its tests, or with those of a folder if less must be compiled for them. Resolves to its
   * path, or to undefined if the fault does not compile.
   */
  async make(name, tests) {
    const isInTests = this.affected.some(({ output }) => output.startsWith("tests/"));
    const part = isInTests ? tests : undefined;
    const key = `${name}-${part ?? "all"}`;
    if (!this.linked.has(key)) this.linked.set(key, await this.#link(name, part, join(this.folder, key)));
    return this.linked.get(key);
  }

  /** A script that starts the program at `path` with bounded time and memory, under the program's own name. */
  limited(path) {
    const script = join(this.folder, "limited/gpt2-weights");
    mkdirSync(dirname(script), { recursive: true });
    writeFileSync(script, `#!/bin/sh\n${limits(60)}\nexec ${path} "$@"\n`);
    chmodSync(script, 0o755);
    return script;
  }

  async #link(name, tests, path) {
    const { objects, libraries, compiler } = this.workspace.links[name];
    const wanted = objects.filter(
      (object) =>
        tests === undefined || object.includes(`.dir/${tests}/`) || object.includes(".dir/support/"),
    );
    const isInLibrary = (output) => libraries.includes(`/lib${/\/(\w+)\.dir\//.exec(output)?.[1]}.a`);
    const added = [];
    for (const object of this.affected) {
      const { output } = object;
      if (!wanted.includes(output) && !isInLibrary(output)) continue;
      if (!this.compiled.has(output)) this.compiled.set(output, await this.#compile(object));
      if (this.compiled.get(output) === undefined) return undefined;
      if (!wanted.includes(output)) added.push(this.compiled.get(output));
    }
    // Objects come before libraries, so that the linker does not take their definitions from a library.
    const inputs = [...wanted.map((output) => this.compiled.get(output) ?? output), ...added];
    const command = [compiler, ...inputs, "-o", path, libraries].join(" ");
    const { isOk } = await run(command, { cwd: this.workspace.build, ...compiling });
    return isOk ? path : undefined;
  }

  async #compile({ command, output }) {
    const object = join(this.folder, `${this.compiled.size}.o`);
    const changed = command
      .replace(` -o ${output}`, ` -o ${object}`)
      .replace(/^(\S+)/, `$1 -I${this.folder}`) // found before the file of the tree
      .replace(` -c ${join(this.workspace.tree, this.fault.file)}`, ` -c ${this.faulty}`);
    const { isOk } = await run(changed, { cwd: this.workspace.build, ...compiling });
    return isOk ? object : undefined;
  }
}
