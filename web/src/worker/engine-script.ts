// The script of each build, gpt2-VARIANT.js beside its code. A helper thread's worker is started from it, too.
import { createModule } from "../shared/wasm-module.js";
import { actAsThread } from "./act-as-thread.js";

actAsThread();
export default createModule;
