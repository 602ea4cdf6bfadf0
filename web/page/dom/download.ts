// Downloads of files that the page creates.

/** Downloads `parts` as one file. The browser decides where to keep them in the meantime. */
export function download(name: string, parts: readonly Blob[], type: string): void {
  const link = document.createElement("a");
  link.download = name;
  link.href = URL.createObjectURL(new Blob([...parts], { type }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // some browsers start to read the file later
}
