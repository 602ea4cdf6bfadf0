// Measures how long the page's main thread works without a break.
import { expect, type Browser, type Page } from "@playwright/test";

/** A task of a thread, as the browser traces it; in microseconds of processor time. */
interface Task {
  name: string;
  pid: number;
  tid: number;
  tdur?: number;
  args: { name?: string };
}

/** Milliseconds of the five longest tasks of the page's main thread while `action` goes on. */
export async function longestTasks(
  browser: Browser,
  page: Page,
  action: () => Promise<void>,
): Promise<number[]> {
  await browser.startTracing(page, { categories: ["disabled-by-default-devtools.timeline", "__metadata"] });
  await action();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: Task[] };
  const isMain = ({ name, args }: Task) => name === "thread_name" && args.name === "CrRendererMain";
  const mains = new Set(traceEvents.filter(isMain).map(({ pid, tid }) => `${pid} ${tid}`));
  const tasks = traceEvents.filter(({ name, pid, tid }) => name === "RunTask" && mains.has(`${pid} ${tid}`));
  expect(tasks.length).toBeGreaterThan(20); // a page at work has some in each frame
  const all = tasks.map(({ tdur = 0 }) => tdur / 1000).sort((a, b) => b - a);
  return all.slice(0, 5);
}
