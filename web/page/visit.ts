// How this visit of the page began.

/** Undefined where the browser does not say. */
export function visitType(): NavigationTimingType | undefined {
  const [visit] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  return visit?.type;
}
