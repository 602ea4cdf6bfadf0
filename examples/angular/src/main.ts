import { Component, provideZonelessChangeDetection, signal } from "@angular/core";
import { bootstrapApplication } from "@angular/platform-browser";
import { loadModel } from "gpt2-wasm";

@Component({
  selector: "app-story",
  template: "<p><output>{{ story() }}</output></p><small>{{ engine() }}</small>",
})
class Story {
  readonly story = signal("");
  readonly engine = signal("");

  async ngOnInit() {
    const model = await loadModel("models/demo/");
    this.engine.set(`${model.info.variant}, ${model.info.threads} threads`);
    for await (const { text } of model.generate("Once upon a time", { maxNewTokens: 24, seed: 1 })) {
      this.story.update((story) => story + text);
    }
    await model.dispose();
  }
}

void bootstrapApplication(Story, { providers: [provideZonelessChangeDetection()] });
