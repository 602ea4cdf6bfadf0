// How this visit of the page began.

/** Undefined where the browser does not say. */
export function visitType(): NavigationTimingType | undefined {
  const [visit] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  return visit?.type;
}

/** Whether the page is not opened anew but loaded once more. */
export function isRepeated(): boolean {
  const visit = visitType();
  return visit === "reload" || visit === "back_forward";
}
