/** Whether a write failed because the storage is full. */
export const isFull = (error: unknown) => (error as Error | null)?.name === "QuotaExceededError";
