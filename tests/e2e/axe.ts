// Accessibility problems that axe-core finds in a page.
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "@playwright/test";

type Builder = InstanceType<typeof AxeBuilder>;

/** The violations of axe-core's rules, or of those that `options` choose. */
export async function violationsIn(page: Page, options: Parameters<Builder["options"]>[0] = {}) {
  // Passed rules are not described, and all runs in the page itself. Another page is needed only for frames of other
  // origins, of which there are none.
  const { violations } = await new AxeBuilder({ page })
    .options({ ...options, resultTypes: ["violations"] })
    .setLegacyMode()
    .analyze();
  return violations;
}
