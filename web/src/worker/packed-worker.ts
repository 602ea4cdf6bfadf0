// The worker of gpt2.bundle.js: the engine's builds are part of this script, which its threads run, too.
import { actAsThread } from "./act-as-thread.js";
import { PackedBuilds, type PackedCode } from "./packed-builds.js";
import { serve } from "./serve.js";

declare const gpt2Code: PackedCode; // inserted before this script by web/scripts/one-file.mjs

if (!actAsThread()) serve(new PackedBuilds(gpt2Code, self.location.href));
