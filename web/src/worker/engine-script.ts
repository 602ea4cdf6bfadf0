// The name of each build's script, gpt2-VARIANT.js beside its code. Helper threads start from it, too.
import { createModule } from "../model/wasm-module.js";
import { actAsThread } from "./act-as-thread.js";

actAsThread();
export default createModule;
