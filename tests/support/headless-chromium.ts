// Debian's own Chromium if it is installed, else Playwright's.
import { existsSync } from "node:fs";

// The shell opens a page with a third of the work that the whole browser takes, which tests/browsers tests.
const found = ["/usr/lib/chromium/chromium-headless-shell", "/usr/bin/chromium"].find((path) =>
  existsSync(path),
);

/** The part of Playwright's launch options that chooses it. */
export const headlessChromium = found === undefined ? {} : { executablePath: found };
