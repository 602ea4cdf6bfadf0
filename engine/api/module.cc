// The only source of every WebAssembly module: the linker takes the exported functions from the
// libraries.
