// Reads the texts that the page has stored.
import { expect, type Page } from "@playwright/test";

interface StoredText {
  text: string;
  options?: { seed?: number };
}

/** All records of texts, without their names, the latest version first. */
export const storedTexts = (page: Page): Promise<StoredText[]> =>
  page.evaluate(async () => {
    const database = await new Promise<IDBDatabase>((resolve, reject) => {
      const opening = indexedDB.open("gpt2-texts");
      opening.onsuccess = () => resolve(opening.result);
      opening.onerror = () => reject(new Error("no database"));
    });
    const all = database.transaction("texts").objectStore("texts").getAll();
    const records = await new Promise<{ version: number; content: StoredText }[]>((resolve) => {
      all.onsuccess = () => resolve(all.result as never);
    });
    database.close();
    const texts = records.filter(({ content }) => content as unknown); // a name has none
    return texts.sort((one, other) => other.version - one.version).map(({ content }) => content);
  });

/** Resolves when `text` is stored. */
export async function expectStored(page: Page, text: string): Promise<void> {
  await expect.poll(async () => (await storedTexts(page)).map((each) => each.text)).toContain(text);
}
