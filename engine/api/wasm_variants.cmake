# The four builds of the engine, and the modules that only some pages need.

# gpt2_read_exports(VARIABLE HEADER): the functions of memory.h and HEADER, separated by commas. Reading them from the
# headers avoids a second list.
function(gpt2_read_exports variable header)
  set(exports "")
  foreach(name memory.h ${header})
    set(file ${PROJECT_SOURCE_DIR}/engine/api/${name})
    file(STRINGS ${file} declarations REGEX "^[a-zA-Z].*gpt2_[a-z0-9_]+\\(")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    foreach(declaration ${declarations})
      string(REGEX MATCH "gpt2_[a-z0-9_]+\\(" name "${declaration}")
      string(REPLACE "(" "" name "${name}")
      list(APPEND exports _${name})
    endforeach()
  endforeach()
  list(JOIN exports "," exports)
  set(${variable} ${exports} PARENT_SCOPE)
endfunction()

gpt2_read_exports(_engine_exports api.h)

# Relaxed SIMD affects only the kernels. The other libraries are built with and without threads. They are optimized for
# size, since they rarely run: optimized as a whole, they are a tenth smaller.
gpt2_add_engine(-simd -msimd128 -Oz -flto)
gpt2_add_engine(-threads -msimd128 -Oz -flto -sSHARED_MEMORY)
set_source_files_properties(${PROJECT_SOURCE_DIR}/engine/text/encoding.cc
  ${PROJECT_SOURCE_DIR}/engine/generate/sampler.cc ${PROJECT_SOURCE_DIR}/engine/base/thread_pool.cc
  PROPERTIES COMPILE_OPTIONS -O2)
# With -O3, quantizing is a tenth faster, for a kilobyte more in gzip.
set_source_files_properties(${PROJECT_SOURCE_DIR}/engine/model/matrix.cc
  # These examine every logit of every token. With -Oz they do so one at a time, which took a hundredth of a decode step
  # of GPT-2 124M.
  ${PROJECT_SOURCE_DIR}/engine/generate/not_finite.cc ${PROJECT_SOURCE_DIR}/engine/generate/rank.cc PROPERTIES COMPILE_OPTIONS -Os)
# The search over 54 scales for each 32 weights, and the product of an adapter's factors.
set_source_files_properties(${PROJECT_SOURCE_DIR}/engine/convert/quantize_q4.cc
  ${PROJECT_SOURCE_DIR}/engine/convert/low_rank.cc PROPERTIES COMPILE_OPTIONS "-O2;-fno-unroll-loops")

# A small strtod and snprintf for the JSON library.
foreach(_engine simd threads)
  target_sources(gpt2_format-${_engine} PRIVATE ${PROJECT_SOURCE_DIR}/engine/format/wasm_libc.cc)
  target_link_options(gpt2_format-${_engine} INTERFACE -Wl,--wrap=strtod)
endforeach()

# gpt2_add_wasm_module(NAME EXPORTS MAXIMUM): gpt2-NAME.wasm, with a memory of at most MAXIMUM.
# web/src/shared/wasm-module.ts starts it instead of Emscripten's own script. So -lexports.js keeps the names of imports
# and exports.
function(gpt2_add_wasm_module name exports maximum)
  add_executable(gpt2-${name} api/module.cc)
  set_target_properties(gpt2-${name} PROPERTIES SUFFIX .js RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/engine)
  target_link_options(gpt2-${name} PRIVATE -Oz -Wl,--wrap=snprintf --no-entry -lexports.js
    -sEXPORTED_FUNCTIONS=${exports} -sIMPORTED_MEMORY -sALLOW_MEMORY_GROWTH -sINITIAL_MEMORY=4MB -sMAXIMUM_MEMORY=${maximum}
    -sBINARYEN_EXTRA_PASSES=--converge -sSTACK_SIZE=256KB -sFILESYSTEM=0 -sMALLOC=emmalloc -sSTRICT -sENVIRONMENT=worker)
endfunction()

# gpt2_add_wasm_variant(ENGINE NAME OPTIONS...): a build of the engine.
function(gpt2_add_wasm_variant engine name)
  gpt2_add_kernels(-${name} -msimd128 -O3 ${ARGN})
  set(exports ${_engine_exports})
  if("-sSHARED_MEMORY" IN_LIST ARGN)
    string(APPEND exports ",_gpt2_run_thread,_gpt2_thread_trapped")
  endif()
  gpt2_add_wasm_module(${name} ${exports} 4GB)
  target_link_libraries(gpt2-${name} PRIVATE gpt2_api-${engine} gpt2_kernels-${name})
  target_link_options(gpt2-${name} PRIVATE ${ARGN})
  if("-sSHARED_MEMORY" IN_LIST ARGN)
    target_sources(gpt2-${name} PRIVATE base/worker_threads.cc)
    target_compile_options(gpt2-${name} PRIVATE ${ARGN})
    target_link_options(gpt2-${name} PRIVATE -sWASM_WORKERS)  # picks the libraries for shared memory without pthreads
  endif()
endfunction()

gpt2_add_wasm_variant(simd simd)
gpt2_add_wasm_variant(simd simd-relaxed -mrelaxed-simd)
gpt2_add_wasm_variant(threads threads -sSHARED_MEMORY)
gpt2_add_wasm_variant(threads threads-relaxed -sSHARED_MEMORY -mrelaxed-simd)

# gpt2_add_wasm_part(NAME HEADER): a module that exports the functions of HEADER.
function(gpt2_add_wasm_part name header)
  gpt2_read_exports(exports ${header})
  gpt2_add_wasm_module(${name} ${exports} 1GB)
  target_link_libraries(gpt2-${name} PRIVATE gpt2_api-simd)
endfunction()

gpt2_add_wasm_part(convert convert.h)
gpt2_add_wasm_part(languages languages.h)
