// The worker of gpt2.bundle.js: the engine's builds are in this very script, and its threads run this script, too.
import createWithoutThreads from "gpt2-engine/simd";
import createWithThreads from "gpt2-engine/threads";
import { PackedBuilds, type Pack } from "./packed-builds.js";
import { serve } from "./serve.js";

declare const GPT2_PACK: Pack; // put in by web/scripts/one-file.mjs

// In a thread, whose name Emscripten has given, its own script has done everything by now.
if (!self.name.startsWith("em-pthread")) {
  const createModule = (variant: string) =>
    variant.startsWith("threads") ? createWithThreads : createWithoutThreads;
  serve(new PackedBuilds(GPT2_PACK, createModule, self.location.href));
}
