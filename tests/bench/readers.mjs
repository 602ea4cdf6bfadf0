// Measures how fast threads read memory: the limit of decoding. Each sums up its own part of the bytes.

/** Runs in a worker, to which it is sent as text. Waits until all threads have come, and returns the duration. */
function reader() {
  /** @type {any} */
  let numbers;
  self.onmessage = ({ data: { bytes, rounds, meeting, arrivals } }) => {
    if (bytes) return void (numbers = new Float64Array(bytes / 8).fill(1)); // unwritten pages have no memory behind them
    Atomics.add(meeting, 0, 1);
    while (Atomics.load(meeting, 0) < arrivals);
    const start = performance.now();
    let [a, b, c, d] = [0, 0, 0, 0]; // several sums hide the latency of the addition
    for (let round = 0; round < rounds; ++round)
      for (let i = 0; i < numbers.length; i += 8) {
        a += numbers[i] + numbers[i + 1];
        b += numbers[i + 2] + numbers[i + 3];
        c += numbers[i + 4] + numbers[i + 5];
        d += numbers[i + 6] + numbers[i + 7];
      }
    self.postMessage({ ms: performance.now() - start, sum: a + b + c + d });
  };
}

/** The duration of a measurement: far longer than a step of the clock, and than threads take to start. */
const roundMs = 40;
/** The most memory of all threads together: several times the size of caches. */
const mostBytes = 256 * 1024 * 1024;

/** Starts `count` threads over `bytes`. The returned function measures the bytes per second of all together. */
export async function startReaders(count, bytes) {
  const address = URL.createObjectURL(new Blob([`(${reader.toString()})()`], { type: "text/javascript" }));
  const workers = Array.from({ length: count }, () => new Worker(address));
  const share = Math.floor(Math.min(bytes, mostBytes) / count / 64) * 64;
  for (const worker of workers) worker.postMessage({ bytes: share });
  const meeting = new Int32Array(new SharedArrayBuffer(4));
  let [arrivals, rounds] = [0, 1];
  const readOnce = async () => {
    arrivals += count;
    const answers = workers.map((worker) => {
      worker.postMessage({ rounds, meeting, arrivals });
      return new Promise((resolve) => (worker.onmessage = ({ data }) => resolve(data.ms)));
    });
    const ms = Math.max(0.01, ...(await Promise.all(answers)));
    const speed = (share * count * rounds * 1000) / ms;
    rounds = Math.max(1, Math.ceil((rounds * roundMs) / ms));
    return speed;
  };
  for (let i = 0; i < 3; ++i) await readOnce(); // afterwards the browser has compiled the loop
  return readOnce;
}
