// Tabs according to the ARIA Authoring Practices: the arrow keys move the focus; Enter, Space or a press selects a
// tab.

/** Sets up `tabs`; calls `choose` with the selected tab. */
export function offerTabs(
  tabs: readonly HTMLButtonElement[],
  choose: (tab: HTMLButtonElement) => void,
): void {
  for (const [place, tab] of tabs.entries()) {
    const steps: Readonly<Record<string, number>> = {
      ArrowLeft: place - 1 + tabs.length,
      ArrowRight: place + 1,
      Home: 0,
      End: tabs.length - 1,
    };
    tab.addEventListener("click", () => choose(tab));
    tab.addEventListener("keydown", (event) => {
      const step = steps[event.key];
      if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      tabs[step % tabs.length]?.focus();
    });
  }
}

/** Marks `chosen` among `tabs` as selected, in the `panel` that they share. */
export function showTab(
  tabs: readonly HTMLButtonElement[],
  chosen: HTMLButtonElement,
  panel: HTMLElement,
): void {
  for (const tab of tabs) {
    tab.ariaSelected = String(tab === chosen);
    tab.tabIndex = tab === chosen ? 0 : -1;
    tab.setAttribute("aria-controls", panel.id);
  }
  panel.setAttribute("aria-labelledby", chosen.id);
}
