// VitePress's own theme in the reader's fonts, with live examples.
import { defineComponent, h, onMounted, watch } from "vue";
import { inBrowser, useRoute, withBase } from "vitepress";
import DefaultTheme from "vitepress/theme-without-fonts";
import { LiveScript } from "./live-script.mjs";
import "./style.css";

/** Defines the elements when a page contains one. */
function defineElements() {
  if (inBrowser && document.querySelector("[data-live=html]"))
    void import(/* @vite-ignore */ withBase("/gpt2/gpt2-element.js"));
}

const Layout = defineComponent(() => {
  const route = useRoute();
  onMounted(() => {
    watch(
      () => route.path,
      () => setTimeout(defineElements),
      { immediate: true },
    );
  });
  return () => h(DefaultTheme.Layout);
});

/** @type {import("vitepress").Theme} */
export default {
  extends: DefaultTheme,
  Layout,
  enhanceApp({ app }) {
    app.component("LiveScript", LiveScript);
  },
};
