// Numbers for what has no text to be compared by: functions, files.
const numbers = new WeakMap<object, number>();
let last = 0;

/** The same for the same object, and no other's. */
export function numberOf(object: object): number {
  const number = numbers.get(object) ?? ++last;
  numbers.set(object, number);
  return number;
}
