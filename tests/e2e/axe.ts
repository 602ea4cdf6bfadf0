// What axe-core finds wrong in a page.
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "@playwright/test";

type Builder = InstanceType<typeof AxeBuilder>;

/** What breaks a rule of axe-core's, or of those that `options` choose. */
export async function violationsIn(page: Page, options: Parameters<Builder["options"]>[0] = {}) {
  // What is as it should be is not described, and all is done in the page itself: another one is needed only for frames
  // of other origins, of which there are none.
  const { violations } = await new AxeBuilder({ page })
    .options({ ...options, resultTypes: ["violations"] })
    .setLegacyMode()
    .analyze();
  return violations;
}
