// The panel of engine and device, fetched when it is opened.
import { elements as ui } from "../../dom/elements.js";
import { phrase } from "../../language/start.js";
import { messageOf } from "../../state/errors.js";

/** Shows it whenever it is opened. */
export function offerDevice(): void {
  ui.device.addEventListener("toggle", () => {
    if (!ui.device.open) return;
    import("./panel.js").then(
      ({ showDevice }) => showDevice(ui.devicePanel),
      (error: unknown) => {
        ui.devicePanel.textContent = phrase("noPart", { why: messageOf(error) });
      },
    );
  });
}
