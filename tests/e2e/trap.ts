// Makes the engine's helper threads trap, as a bug in WebAssembly would.

/**
 * Code before the engine's script that makes its helper threads trap in the first chunk of a loop. The function that runs
 * a chunk is called by its place in the table of functions, which is emptied in a helper.
 */
export const trapInHelpers = `if (self.name === "gpt2-thread") {
  const { Instance } = WebAssembly;
  WebAssembly.Instance = function (code, imports) {
    const instance = new Instance(code, imports);
    const table = instance.exports.__indirect_function_table;
    for (let place = 0; place < table.length; ++place) table.set(place, null);
    return instance;
  };
}`;
