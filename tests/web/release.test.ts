import { expect, it } from "vitest";
import { notesOf, publishedManifest } from "../../web/scripts/publish.mjs";

const changelog =
  "# Changelog\n\n## Versions\n\ntext\n\n## 1.3.0: other bits\n\n- new\n\n## 1.2.0\n\n- old\n";

it("a release finds the notes of its version, also in a longer heading", () => {
  expect(notesOf(changelog, "1.3.0")).toContain("- new");
  expect(notesOf(changelog, "1.2.0")).toContain("- old");
});

it("a release is refused without notes", () => {
  expect(() => notesOf(changelog, "1.3")).toThrow('CHANGELOG.md has no heading "## 1.3": add it');
});

it("a release publishes no scripts and no development dependencies", () => {
  const manifest = { name: "x", scripts: {}, devDependencies: {}, overrides: {}, exports: { ".": "./a.js" } };
  expect(publishedManifest(manifest, undefined)).toEqual({ name: "x", exports: { ".": "./a.js" } });
});

it("a release reads the addresses from its repository, and refuses an invalid one", () => {
  expect(publishedManifest({}, "owner/name")).toEqual({
    homepage: "https://github.com/owner/name#readme",
    repository: { type: "git", url: "git+https://github.com/owner/name.git" },
    bugs: "https://github.com/owner/name/issues",
  });
  expect(() => publishedManifest({}, "https://evil")).toThrow("GITHUB_REPOSITORY");
});
