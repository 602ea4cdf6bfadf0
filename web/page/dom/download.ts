// Files that the page makes, given to its reader as links give them.

/** Downloads `parts` as one file; the browser keeps them where it has room for them. */
export function download(name: string, parts: readonly Blob[], type: string): void {
  const link = document.createElement("a");
  link.download = name;
  link.href = URL.createObjectURL(new Blob([...parts], { type }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // some browsers begin to read it later
}
