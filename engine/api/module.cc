// The one source of every WebAssembly module: the linker takes what a module exports out of the
// libraries.
