// Accessibility problems that axe-core finds in a page.
import { AxeBuilder } from "@axe-core/playwright";
import { expect, type Page } from "@playwright/test";

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

/** axe-core finds no problem in the page, light and dark. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    const found = (await violationsIn(page)).map(({ id, nodes }) => ({
      id,
      targets: nodes.map(({ target }) => target.join(" ")),
    }));
    expect(found, colorScheme).toEqual([]);
  }
}
