// The limits of Playwright's tests. They only end what hangs: no test measures time, and a busy machine takes many times as long.
export const hangLimits = {
  timeout: 300_000,
  expect: { timeout: 90_000 },
};
