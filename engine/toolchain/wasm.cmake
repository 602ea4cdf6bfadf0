# CMake toolchain of the WebAssembly build: Emscripten as emscripten.mjs found or fetched it.
set(_cache ${CMAKE_CURRENT_LIST_DIR}/../../.cache)
set(_record ${_cache}/emscripten/emscripten.json)
if(NOT EXISTS ${_record})
  message(FATAL_ERROR "No Emscripten yet: run  node engine/toolchain/emscripten.mjs")
endif()
file(READ ${_record} _json)
string(JSON _root GET "${_json}" root)
include(${_root}/cmake/Modules/Platform/Emscripten.cmake)
