import { createApp } from "vue";
import Story from "./Story.vue";

createApp(Story, { prompt: "Once upon a time" }).mount("#app");
