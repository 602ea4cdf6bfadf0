// Addresses at a hub with Hugging Face's API. The caller has already checked id and revision.
import { fileAddress } from "../../shared/file-names.mjs";
import type { HubRequest } from "../../shared/protocol.js";

type Model = Pick<HubRequest, "hub" | "id">;

/** The address of a model's folder. A slash in a revision is escaped, so that the revision stays one part. */
export const filesAddress = ({ hub, id }: Model, revision: string): string =>
  `${fileAddress(hub, id)}/resolve/${encodeURIComponent(revision)}/`;

/** Whether the file `name` is a whole GGUF file of `quantization`, such as "Q8_0". */
export const isQuantized = (name: string, quantization: string): boolean =>
  new RegExp(`(^|[-._/])${quantization.replaceAll(".", "\\.")}\\.gguf$`, "i").test(name);

/** The address of the hub's JSON about a model. */
export const apiAddress = ({ hub, id }: Model, revision: string): string =>
  `${fileAddress(hub, `api/models/${id}`)}/revision/${encodeURIComponent(revision)}`;
