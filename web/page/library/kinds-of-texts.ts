// Which files hold texts, by their names.

/** For the picker. */
export const kindsOfTexts = ".txt,.text,.md,.markdown,.docx,.json";

/** Files of a model with the name of a text. */
const ofModels = /^(?:merges|vocab)\.txt$|^readme\.md$/i;

/** Whether `file` can only be meant as a text, or as an exported file of texts. */
export const isText = ({ name }: { readonly name: string }): boolean =>
  /\.(?:txt|text|md|markdown|docx)$|^texts-[\d-]+(?: ?\(\d+\))?\.json$/i.test(name) && !ofModels.test(name);
