// The limits of Playwright's tests. They only end what hangs: no test measures time, and a busy machine takes many times as long.
// In continuous integration, a test that fails runs once more, and is reported as flaky.
export const hangLimits = {
  timeout: 300_000,
  expect: { timeout: 90_000 },
  retries: process.env.CI ? 1 : 0,
};
