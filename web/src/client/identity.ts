// Numbers that identify objects without a text to compare, such as functions and files.
const numbers = new WeakMap<object, number>();
let last = 0;

/** The same number for the same object, different for others. */
export function numberOf(object: object): number {
  const number = numbers.get(object) ?? ++last;
  numbers.set(object, number);
  return number;
}
