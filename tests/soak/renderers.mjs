// Measures the page's JavaScript heap, the memory of its process, and its workers.
import { readdirSync, readFileSync } from "node:fs";

/**
 * `heap`: bytes of the page's JavaScript objects after garbage collection. `bytes`: the renderers' proportional set size,
 * which includes WebAssembly memory and stacks. `workers`: threads that run workers, helper threads included.
 */
export async function measure(page) {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("HeapProfiler.collectGarbage");
  await cdp.send("Performance.enable");
  const { metrics } = await cdp.send("Performance.getMetrics");
  await cdp.detach();
  const heap = metrics.find(({ name }) => name === "JSHeapUsedSize").value;
  const browser = await page.context().browser().newBrowserCDPSession();
  const { processInfo } = await browser.send("SystemInfo.getProcessInfo");
  await browser.detach();
  let bytes = 0;
  let workers = 0;
  for (const { id } of processInfo.filter(({ type }) => type === "renderer")) {
    try {
      const rollup = readFileSync(`/proc/${id}/smaps_rollup`, "utf8");
      bytes += 1024 * Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1]);
      for (const task of readdirSync(`/proc/${id}/task`))
        if (readFileSync(`/proc/${id}/task/${task}/comm`, "utf8").startsWith("Dedicated")) workers += 1;
    } catch (error) {
      if (!["ENOENT", "ESRCH"].includes(error.code)) throw error; // it, or a thread, ended meanwhile
    }
  }
  return { heap, bytes, workers };
}
