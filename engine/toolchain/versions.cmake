# Checks the versions of the libraries that the project needs, which are not part of the repository, and finds their
# headers. emscripten.mjs checks Emscripten's version.

# gpt2_check_version(NAME FOUND LEAST BELOW WHERE): stops unless LEAST <= FOUND < BELOW.
function(gpt2_check_version name found least below where)
  if(found STREQUAL "" OR found VERSION_LESS least OR found VERSION_GREATER_EQUAL below)
    message(FATAL_ERROR "${name} in ${where} has version \"${found}\", "
      "expected ${least} or newer, below ${below}")
  endif()
endfunction()

# gpt2_find_headers(NAME HEADER VERSION_HEADER MACRO LEAST BELOW): sets GPT2_<NAME>_HEADERS to the folder of HEADER.
# VERSION_HEADER in the same folder defines ..._MAJOR, _MINOR and MACRO's third part.
function(gpt2_find_headers name header version_header macro third least below)
  find_path(GPT2_${name}_HEADERS ${header} PATHS /usr/include /usr/local/include /opt/homebrew/include
    NO_CMAKE_FIND_ROOT_PATH DOC "The folder of ${header}")
  set(where ${GPT2_${name}_HEADERS})
  if(NOT where)
    message(FATAL_ERROR "${name} is missing: CMake finds no ${header} in /usr/include or its other folders; "
      "expected ${least} or newer, below ${below}")
  endif()
  file(STRINGS ${where}/${version_header} lines REGEX "define ${macro}_(MAJOR|MINOR|${third}) ")
  foreach(part MAJOR MINOR ${third})
    if(NOT lines MATCHES "${macro}_${part} +([0-9]+)")
      message(FATAL_ERROR "${name}: ${where}/${version_header} has no ${macro}_${part}; "
        "expected ${least} or newer, below ${below}")
    endif()
    list(APPEND version ${CMAKE_MATCH_1})
  endforeach()
  list(JOIN version "." found)
  gpt2_check_version(${name} "${found}" ${least} ${below} ${where})
endfunction()

gpt2_find_headers(nlohmann_json nlohmann/json.hpp nlohmann/detail/abi_macros.hpp NLOHMANN_JSON_VERSION PATCH 3.11.2 4)
if(NOT EMSCRIPTEN)
  gpt2_find_headers(SIMDe simde/wasm/simd128.h simde/simde-common.h SIMDE_VERSION MICRO 0.7.4 0.9)
  gpt2_find_headers(CLI11 CLI/CLI.hpp CLI/Version.hpp CLI11_VERSION PATCH 2.1.2 3)
endif()
