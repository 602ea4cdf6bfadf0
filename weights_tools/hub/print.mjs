// Standard output, which console.log loses without a word where it cannot be written.
import { FetchError } from "./repository.mjs";

/**
 * Writes a line to standard output.
 * @param {string} text
 * @returns {Promise<void>}
 */
export const print = (text) =>
  new Promise((resolve, reject) => {
    const fail = (/** @type {Error} */ error) =>
      reject(new FetchError(`cannot write standard output: ${error.message}`, { cause: error }));
    process.stdout.once("error", fail);
    process.stdout.write(`${text}\n`, (error) => {
      if (error) return; // told by the event
      process.stdout.off("error", fail);
      resolve();
    });
  });
