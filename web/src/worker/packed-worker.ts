// The worker of gpt2.bundle.js: the engine's builds are in this very script, and its threads run this script, too.
import createWithoutThreads from "gpt2-engine/simd";
import createWithThreads from "gpt2-engine/threads";
import { PackedBuilds, type PackedBuild } from "./packed-builds.js";
import type { Packed } from "../shared/inflate.js";
import { serve } from "./serve.js";

// Put in by web/scripts/one-file.mjs: what the engine's code is made of, and, before this script, that itself.
declare const GPT2_PARTS: readonly PackedBuild[];
declare const gpt2Code: Packed;

// In a thread, whose name Emscripten has given, its own script has done everything by now.
if (!self.name.startsWith("em-pthread")) {
  const createModule = (variant: string) =>
    variant.startsWith("threads") ? createWithThreads : createWithoutThreads;
  serve(new PackedBuilds({ data: gpt2Code, parts: GPT2_PARTS }, createModule, self.location.href));
}
