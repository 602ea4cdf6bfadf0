// Which files hold texts, by their names.

/** For the picker. */
export const kindsOfTexts = ".txt,.text,.md,.markdown,.docx,.json";

/** Whether the file `name` is read as a text as it is. */
export const isPlain = (name: string): boolean => /\.(?:txt|text|md|markdown)$|^[^.]+$/i.test(name);

const ofModels =
  /\.(?:gguf|safetensors|bin|h5|msgpack)(?:\.|$)|^(?:.*config|vocab|weights|tokenizer)\.json$|^(?:merges|vocab)\.txt$|^readme\.md$/i;

/** Whether a file of this name belongs to a model. */
export const isOfModel = ({ name }: { readonly name: string }): boolean => ofModels.test(name);
