// The English texts of index.html, for visitors who switch back from another language.
export { page } from "./en.js";
