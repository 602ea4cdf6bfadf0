// The worker of gpt2.bundle.js: the engine's builds are part of this script, which its threads run, too.
import { actAsThread } from "./act-as-thread.js";
import { PackedBuilds, type PackedBuild } from "./packed-builds.js";
import type { Packed } from "../shared/inflate.js";
import { serve } from "./serve.js";

// Inserted by web/scripts/one-file.mjs: the parts of the engine's code, and before this script the code itself.
declare const GPT2_PARTS: readonly PackedBuild[];
declare const gpt2Code: Packed;

if (!actAsThread()) serve(new PackedBuilds({ data: gpt2Code, parts: GPT2_PARTS }, self.location.href));
