import { afterEach, vi } from "vitest";

afterEach(() => void vi.useRealTimers());

// A busy machine may need longer than the second that Vitest waits.
const patient = { timeout: 30_000 };
const { waitFor, waitUntil } = vi;
vi.waitFor = (check, options) => waitFor(check, { ...patient, ...Object(options) });
vi.waitUntil = (check, options) => waitUntil(check, { ...patient, ...Object(options) });
