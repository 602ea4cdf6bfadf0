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

# Relaxed SIMD affects only the kernels, and shared memory only the threads. The linker translates the other libraries,
# with atomic instructions where the memory is shared. They are optimized for size, because they rarely run. Optimized as
# a whole, they are a tenth smaller.
set(_small -msimd128 -Oz -flto)
gpt2_add_engine(${_small})
gpt2_add_kernels(-simd -msimd128 -O3)
gpt2_add_kernels(-relaxed -msimd128 -O3 -mrelaxed-simd)

# gpt2_add_wasm_threads(FILE OPTIONS...): one file of engine/base, for the modules that choose it.
function(gpt2_add_wasm_threads file)
  get_filename_component(name ${file} NAME_WE)
  add_library(gpt2_${name} STATIC ${PROJECT_SOURCE_DIR}/engine/base/${file})
  target_link_libraries(gpt2_${name} PRIVATE gpt2_flags)
  target_compile_options(gpt2_${name} PRIVATE ${ARGN})
endfunction()

gpt2_add_wasm_threads(no_threads.cc -fno-rtti ${_small})
gpt2_add_wasm_threads(thread_pool.cc -fno-rtti ${_small} -sSHARED_MEMORY)
gpt2_add_wasm_threads(worker_threads.cc -sSHARED_MEMORY)

# The only object that every module begins with. With the threads in its place, the modules are 0.6 kB larger, gzipped.
add_library(gpt2_module OBJECT ${PROJECT_SOURCE_DIR}/engine/api/module.cc)

set_source_files_properties(${PROJECT_SOURCE_DIR}/engine/generate/sampler.cc
  ${PROJECT_SOURCE_DIR}/engine/base/thread_pool.cc PROPERTIES COMPILE_OPTIONS -O2)
# With -O2, a text is not split into tokens faster, for 0.7 kB, gzipped.
set_source_files_properties(${PROJECT_SOURCE_DIR}/engine/text/encoding.cc PROPERTIES COMPILE_OPTIONS -Os)
# With -O3, quantizing is a tenth faster, for one more kilobyte, gzipped.
set_source_files_properties(${PROJECT_SOURCE_DIR}/engine/model/matrix.cc
  # These examine every logit of every token. With -Oz they do so one at a time, which took a hundredth of a decode step
  # of GPT-2 124M.
  ${PROJECT_SOURCE_DIR}/engine/generate/not_finite.cc ${PROJECT_SOURCE_DIR}/engine/generate/rank.cc PROPERTIES COMPILE_OPTIONS -Os)
# The search over 54 scales for each 32 weights, and the product of an adapter's factors.
set_source_files_properties(${PROJECT_SOURCE_DIR}/engine/convert/quantize_q4.cc
  ${PROJECT_SOURCE_DIR}/engine/convert/low_rank.cc PROPERTIES COMPILE_OPTIONS "-O2;-fno-unroll-loops")

# A small strtod and snprintf for the JSON library.
target_sources(gpt2_format PRIVATE ${PROJECT_SOURCE_DIR}/engine/format/wasm_libc.cc)
target_link_options(gpt2_format INTERFACE -Wl,--wrap=strtod)

# gpt2_add_wasm_module(NAME EXPORTS MAXIMUM LIBRARIES...): gpt2-NAME.wasm, with a memory of at most MAXIMUM.
# web/src/model/wasm-module.ts starts it instead of Emscripten's own script. So -lexports.js keeps the names of imports
# and exports.
function(gpt2_add_wasm_module name exports maximum)
  add_executable(gpt2-${name})
  target_link_libraries(gpt2-${name} PRIVATE gpt2_module ${ARGN})
  set_target_properties(gpt2-${name} PROPERTIES LINKER_LANGUAGE CXX SUFFIX .js
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/engine)
  target_link_options(gpt2-${name} PRIVATE -Oz -Wl,--wrap=snprintf --no-entry -lexports.js
    -sEXPORTED_FUNCTIONS=${exports} -sIMPORTED_MEMORY -sALLOW_MEMORY_GROWTH -sINITIAL_MEMORY=4MB -sMAXIMUM_MEMORY=${maximum}
    -sBINARYEN_EXTRA_PASSES=--converge -sSTACK_SIZE=256KB -sFILESYSTEM=0 -sMALLOC=emmalloc -sSTRICT -sENVIRONMENT=worker)
endfunction()

gpt2_read_exports(_exports api.h)
gpt2_add_wasm_module(simd ${_exports} 4GB gpt2_api gpt2_kernels-simd gpt2_no_threads)
gpt2_add_wasm_module(simd-relaxed ${_exports} 4GB gpt2_api gpt2_kernels-relaxed gpt2_no_threads)
string(APPEND _exports ",_gpt2_run_thread,_gpt2_thread_trapped")
gpt2_add_wasm_module(threads ${_exports} 4GB gpt2_api gpt2_kernels-simd gpt2_thread_pool gpt2_worker_threads)
gpt2_add_wasm_module(threads-relaxed ${_exports} 4GB gpt2_api gpt2_kernels-relaxed gpt2_thread_pool gpt2_worker_threads)
foreach(_name simd-relaxed threads-relaxed)
  target_link_options(gpt2-${_name} PRIVATE -mrelaxed-simd)
endforeach()
foreach(_name threads threads-relaxed)
  # The second picks the libraries for shared memory without pthreads.
  target_link_options(gpt2-${_name} PRIVATE -sSHARED_MEMORY -sWASM_WORKERS)
endforeach()

foreach(_part convert languages)
  gpt2_read_exports(_exports ${_part}.h)
  gpt2_add_wasm_module(${_part} ${_exports} 1GB gpt2_api-${_part} gpt2_no_threads)
endforeach()
