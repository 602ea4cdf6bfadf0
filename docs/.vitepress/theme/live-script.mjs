// A button below an example in JavaScript that runs it. What the example adds to the page appears below the button; so does what
// an example prints that the reader can edit.
import { defineComponent, h, ref } from "vue";
import { withBase } from "vitepress";

/** The console of an example that the reader can edit. */
const shownConsole = `const console = {
  ...globalThis.console,
  log: (...values) =>
    document.body.append(Object.assign(document.createElement("samp"), { textContent: values.join(" ") + "\\n" })),
};
`;

/**
 * Runs a module: its imports of the package load the copy beside this site, and `output` acts as its page.
 * @param {string} source
 * @param {HTMLElement} output
 */
async function run(source, output) {
  const address = (/** @type {string} */ file) =>
    JSON.stringify(new URL(withBase(`/gpt2/${file}`), location.href).href);
  const module = source
    .replace(/(["'])gpt2-wasm\/(\w+)\1/g, (_, _quote, name) => address(`gpt2-${name}.js`))
    .replace(/(["'])gpt2-wasm\1/g, address("gpt2.js"))
    .replace(/\bdocument\.body\b/g, "document.getElementById(import.meta.url)")
    .replace(/(["'])(\/[^"']*models\/demo\/)\1/g, (_, _quote, path) =>
      JSON.stringify(new URL(path, location.href).href),
    );
  const url = URL.createObjectURL(new Blob([module], { type: "text/javascript" }));
  output.id = url;
  try {
    await import(/* @vite-ignore */ url);
  } finally {
    URL.revokeObjectURL(url);
  }
}

export const LiveScript = defineComponent({
  props: { source: { type: String, required: true }, editable: Boolean },
  setup({ source, editable }) {
    const code = ref(decodeURIComponent(source).trim());
    const output = ref();
    const state = ref("idle");
    const problem = ref("");
    const start = async () => {
      state.value = "running";
      problem.value = "";
      output.value.textContent = "";
      try {
        await run(editable ? shownConsole + code.value : code.value, output.value);
        state.value = "done";
      } catch (error) {
        state.value = "failed";
        problem.value = String(error);
      }
    };
    return () =>
      h("div", { class: "live", "data-live": "js", "data-state": state.value }, [
        editable &&
          h("textarea", {
            ...{ value: code.value, rows: code.value.split("\n").length + 1, spellcheck: "false" },
            ...{ "aria-label": "Code: change it, and run it again", wrap: "off" },
            onInput: (/** @type {{ target: HTMLTextAreaElement }} */ { target }) =>
              (code.value = target.value),
          }),
        h("button", { type: "button", disabled: state.value === "running", onClick: start }, "Run"),
        h("output", { ref: output }),
        h("p", { role: "status" }, problem.value),
      ]);
  },
});
