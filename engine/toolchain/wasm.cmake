# CMake toolchain of the WebAssembly build: Emscripten as emscripten.mjs found or fetched it, with
# exactly those system headers that are libraries of headers alone.
set(_cache ${CMAKE_CURRENT_LIST_DIR}/../../.cache)
set(_record ${_cache}/emscripten/emscripten.json)
if(NOT EXISTS ${_record})
  message(FATAL_ERROR "No Emscripten yet: run  node engine/toolchain/emscripten.mjs")
endif()
file(READ ${_record} _json)
string(JSON _root GET "${_json}" root)
include(${_root}/cmake/Modules/Platform/Emscripten.cmake)

# -I/usr/include would bring in the native C library.
set(_headers ${_cache}/headers)
file(MAKE_DIRECTORY ${_headers})
foreach(_library nlohmann)
  file(CREATE_LINK /usr/include/${_library} ${_headers}/${_library} SYMBOLIC)
endforeach()
set(GPT2_HEADER_ONLY_INCLUDES ${_headers})
