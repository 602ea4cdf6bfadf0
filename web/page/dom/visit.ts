// How the browser opened the page: by a navigation, a reload, or from its history.

/** undefined if the browser does not report it. */
export function visitType(): NavigationTimingType | undefined {
  const [visit] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  return visit?.type;
}

/** Whether the page was reloaded or restored rather than newly opened. */
export function isRepeated(): boolean {
  const visit = visitType();
  return visit === "reload" || visit === "back_forward";
}
