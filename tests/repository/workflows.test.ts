// Every action of the workflows is pinned to a commit, so that a moved tag changes nothing.
import { expect, it } from "vitest";
import { files, read } from "./files.js";

const workflows = files.filter((file) => /^\.github\/workflows\/.*\.ya?ml$/.test(file));

it.each(workflows)("%s pins each action to a commit, with its version in a comment", (file) => {
  const uses = [...read(file).matchAll(/^\s*(?:- )?uses: *(.*)$/gm)].map(([, action = ""]) => action);
  expect(uses.length).toBeGreaterThan(0);
  for (const action of uses) {
    if (action.startsWith("./")) continue; // of this repository
    expect(action).toMatch(/^[\w.-]+\/[\w./-]+@[0-9a-f]{40} # v\d+(\.\d+){0,2}$/);
  }
});
