// Fields of the editor's state that only show something about the text.
import { StateField, type Transaction } from "@codemirror/state";

/** A field that is emptied if its `update` throws. Otherwise the error would drop what was typed, again at each key. */
export const harmlessField = <T>(
  empty: T,
  update: (value: T, transaction: Transaction) => T,
  { provide }: Pick<Parameters<typeof StateField.define<T>>[0], "provide"> = {},
): StateField<T> =>
  StateField.define<T>({
    create: () => empty,
    update(value, transaction) {
      try {
        return update(value, transaction);
      } catch (error) {
        console.error(error);
        return empty;
      }
    },
    ...(provide && { provide }),
  });
