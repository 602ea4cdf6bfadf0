// A page for the command line, from the programs' own --help.
import { execFileSync } from "node:child_process";
import { join } from "node:path";

/** @param {string} root */
export function commandLinePage(root) {
  const tool = join(root, "build/native/weights_tools/gpt2-weights");
  const help = (/** @type {string} */ program, /** @type {string[]} */ ...args) =>
    execFileSync(program, [...args, "--help"], { cwd: root, encoding: "utf8", stdio: "pipe" }).trim();
  /** The commands after `title` in the program's --help. */
  const commandsIn = (/** @type {string} */ overview, /** @type {string} */ title) => {
    const rows = overview.split(title)[1]?.matchAll(/^ {2}(\w+) {2,}/gm) ?? [];
    const names = [...rows].map(([, name = ""]) => name);
    if (names.length === 0) throw new Error(`--help names no command:\n${overview}`);
    return names;
  };
  const ofPackage = (/** @type {string[]} */ ...args) =>
    help(process.execPath, join(root, "build/package/gpt2-cli.js"), ...args);
  const sections = [
    ...commandsIn(ofPackage(), "Commands:").map((name) => [`npx gpt2-wasm ${name}`, ofPackage(name)]),
    ...commandsIn(help(tool), "Subcommands:").map((name) => [`gpt2-weights ${name}`, help(tool, name)]),
  ];
  const pages = sections.map(([name, text]) => `## \`${name}\`\n\n\`\`\`text\n${text}\n\`\`\`\n`);
  return `# Commands and options\n\nWhat \`--help\` prints, for each command of both programs.\n\n${pages.join("\n")}`;
}
