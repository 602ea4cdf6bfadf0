// The change that turns one text into another.

export interface Change {
  from: number;
  to: number;
  insert: string;
}

/** The smallest single change between them; undefined if they are equal. */
export function differenceOf(before: string, after: string): Change | undefined {
  if (before === after) return undefined;
  const most = Math.min(before.length, after.length);
  let from = 0;
  while (from < most && before[from] === after[from]) from += 1;
  let same = 0; // length of the common end
  while (same < most - from && before.at(-1 - same) === after.at(-1 - same)) same += 1;
  return { from, to: before.length - same, insert: after.slice(from, after.length - same) };
}
