// The panel "Engine and device", fetched when it is opened.
import type { Elements } from "../../dom/elements.js";
import { phrase } from "../../language/start.js";
import { whyInFull } from "../../language/why.js";
import type { PageState } from "../../state/page-state.js";
import type { Panel } from "./panel.js";
import "./device.css";

/** Shows the panel whenever it is opened. `showModel` updates the page's line about the model. */
export function offerDevice(
  ui: Pick<Elements, "device" | "devicePanel">,
  state: PageState,
  showModel: () => void,
): void {
  let panel: Panel | undefined;
  const show = () => {
    if (!ui.device.open) return;
    import("./panel.js").then(
      ({ Panel }) => (panel ??= new Panel(ui, state, showModel)).show(),
      (error: unknown) => {
        ui.devicePanel.textContent = phrase("noPart", { why: whyInFull(error) });
      },
    );
  };
  ui.device.addEventListener("toggle", show);
  show();
}
