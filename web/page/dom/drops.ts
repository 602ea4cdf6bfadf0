// Files dropped onto the page. It listens from the start: a browser opens a file that the page does not take.

/** Read while the drop is handled: the browser clears its data afterwards. */
export interface Drop {
  entries: readonly FileSystemEntry[];
  files: readonly File[];
}

/** Returns a function that sets what takes the drops. The last drop before that waits for it. */
export function listenForDrops(): (take: (drop: Drop) => void) => void {
  let waiting: Drop | undefined;
  let give = (drop: Drop): void => {
    waiting = drop;
  };
  const isOverWith = (event: DragEvent, isOver: boolean) => {
    const hasFiles = event.dataTransfer?.types.includes("Files") ?? false; // dropped text goes into the field
    if (hasFiles) event.preventDefault();
    document.body.classList.toggle("dropping", isOver && hasFiles);
    return hasFiles;
  };
  document.addEventListener("dragover", (event) => isOverWith(event, true));
  document.addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) isOverWith(event, false);
  });
  document.addEventListener("drop", (event) => {
    if (!isOverWith(event, false) || !event.dataTransfer) return;
    const { items, files } = event.dataTransfer;
    const entries = [...items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
    give({ entries, files: [...files] });
  });
  return (take) => {
    give = take;
    if (waiting) take(waiting);
    waiting = undefined;
  };
}
