// The page's elements by id, typed; a missing one is a mistake in index.html.

function byId<T extends HTMLElement>(id: string, type: new () => T): T {
  const element = document.getElementById(id);
  if (!(element instanceof type)) throw new Error(`index.html has no ${type.name} #${id}`);
  return element;
}

export const elements = {
  starting: byId("starting", HTMLElement),
  loading: byId("loading", HTMLElement),
  loadingStage: byId("loading-stage", HTMLElement),
  loadingBytes: byId("loading-bytes", HTMLElement),
  loadingProgress: byId("loading-progress", HTMLProgressElement),
  loadingCancel: byId("loading-cancel", HTMLButtonElement),
  error: byId("error", HTMLElement),
  errorText: byId("error-text", HTMLElement),
  errorRepair: byId("error-repair", HTMLButtonElement),
  errorReset: byId("error-reset", HTMLAnchorElement),
  form: byId("form", HTMLFormElement),
  prompt: byId("prompt", HTMLTextAreaElement),
  openings: byId("openings", HTMLElement),
  generate: byId("generate", HTMLButtonElement),
  stop: byId("stop", HTMLButtonElement),
  controls: byId("controls", HTMLElement),
  options: byId("options", HTMLDetailsElement),
  output: byId("output", HTMLElement),
  finish: byId("finish", HTMLElement),
  continue: byId("continue", HTMLButtonElement),
  copy: byId("copy", HTMLButtonElement),
  speed: byId("speed", HTMLElement),
  firstToken: byId("first-token", HTMLElement),
  engine: byId("engine", HTMLElement),
  model: byId("model", HTMLElement),
  memory: byId("memory", HTMLElement),
  saving: byId("saving", HTMLElement),
  save: byId("save", HTMLButtonElement),
  saveStatus: byId("save-status", HTMLElement),
  offline: byId("offline", HTMLElement),
  update: byId("update", HTMLElement),
  updateReload: byId("update-reload", HTMLButtonElement),
  notice: byId("notice", HTMLElement),
  environmentList: byId("environment-list", HTMLUListElement),
};
