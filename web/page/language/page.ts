// The English of index.html, for those who come back to it from another language.
export { page } from "./en.js";
