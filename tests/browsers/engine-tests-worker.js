// Runs a build of engine_tests in the browser. A worker, because main() blocks until all tests are done. Its message has
// `module` (URL), `files` ([path in its file system, URL] of what the tests read), `options` of the command line and
// `report`. `report` is the path to which these options make the tests write. It answers with {line} as the tests print
// and one {exit}: {status, report}, or {error}.

// The tests' own thread starts others through this worker, which Emscripten wakes by Atomics.waitAsync where there is such a thing. In
// Chromium 156 it was not always woken, and the tests waited for ever; messages do as well. The engine's owner starts its threads itself.
Reflect.deleteProperty(Atomics, "waitAsync");

// Two runs on a busy machine still stopped where a test begins to read a file, which this worker does for the tests' thread. The reason is
// unknown. If no line comes for a minute, this worker handles the calls that wait, as after a thread's message. A line says so.
const threads = [];
self.Worker = class extends Worker {
  constructor(url, options) {
    super(url, options);
    threads.push(this);
  }
};
let lastLine = performance.now();
const tell = (line) => {
  lastLine = performance.now();
  self.postMessage({ line });
};
setInterval(() => {
  if (performance.now() - lastLine < 60_000) return;
  tell("[ WAITED   ] no line for a minute: this worker looks for calls that wait");
  threads[0]?.onmessage?.({ data: { cmd: "checkMailbox" } });
}, 5000);

self.onmessage = async ({ data: { module, files, options, report } }) => {
  const fail = (error) => self.postMessage({ error: String(error?.message ?? error) });
  self.onerror = fail; // a thread has ended in a trap
  try {
    const { default: createTests } = await import(module);
    const contents = await Promise.all(
      files.map(async ([path, url]) => {
        const response = await fetch(url);
        if (!response.ok) throw new Error(`${url}: the host answered ${response.status}`);
        return [path, new Uint8Array(await response.arrayBuffer())];
      }),
    );
    let fileSystem;
    await createTests({
      arguments: options,
      preRun({ FS }) {
        fileSystem = FS;
        for (const [path, bytes] of contents) {
          FS.mkdirTree(path.slice(0, path.lastIndexOf("/")));
          FS.writeFile(path, bytes);
        }
      },
      print: tell,
      printErr: tell,
      onAbort: fail,
      onExit(status) {
        const text = fileSystem.readFile(report, { encoding: "utf8" });
        self.postMessage({ exit: { status, report: JSON.parse(text) } });
      },
    });
  } catch (error) {
    if (error?.name !== "ExitStatus") fail(error);
  }
};
