// The worker of gpt2.bundle.js: the engine's builds are in this very script, and its threads run this script, too.
import { actAsThread } from "./act-as-thread.js";
import { PackedBuilds, type PackedBuild } from "./packed-builds.js";
import type { Packed } from "../shared/inflate.js";
import { serve } from "./serve.js";

// Put in by web/scripts/one-file.mjs: what the engine's code is made of, and, before this script, that itself.
declare const GPT2_PARTS: readonly PackedBuild[];
declare const gpt2Code: Packed;

if (!actAsThread()) serve(new PackedBuilds({ data: gpt2Code, parts: GPT2_PARTS }, self.location.href));
