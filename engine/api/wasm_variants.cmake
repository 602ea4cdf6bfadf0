# The four builds of the engine that a page chooses from, what each exports, and the module of other languages' tokenizers.

# gpt2_read_exports(VARIABLE HEADER): every function of a header, read from it, so that the list is written once.
function(gpt2_read_exports variable header)
  set(file ${PROJECT_SOURCE_DIR}/engine/api/${header})
  file(STRINGS ${file} declarations REGEX "^[a-zA-Z].*gpt2_[a-z0-9_]+\\(")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  set(exports "")
  foreach(declaration ${declarations})
    string(REGEX MATCH "gpt2_[a-z0-9_]+\\(" name "${declaration}")
    string(REPLACE "(" "" name "${name}")
    list(APPEND exports _${name})
  endforeach()
  set(${variable} ${exports} PARENT_SCOPE)
endfunction()

gpt2_read_exports(_exports-threads api.h)
gpt2_read_exports(_convert_exports convert.h)
set(_exports-simd ${_exports-threads} ${_convert_exports})

# Relaxed SIMD concerns the kernels alone; the rest is built with threads and without. It is small
# rather than fast, as none of it runs often: optimized as a whole it takes a tenth less.
gpt2_add_engine(-simd -msimd128 -Oz -flto)
gpt2_add_engine(-threads -msimd128 -Oz -flto -pthread)
set_source_files_properties(${PROJECT_SOURCE_DIR}/engine/text/encoding.cc
  ${PROJECT_SOURCE_DIR}/engine/generate/sampler.cc ${PROJECT_SOURCE_DIR}/engine/base/thread_pool.cc
  PROPERTIES COMPILE_OPTIONS -O2)
# Quantizing takes a tenth more time so, and a kilobyte of gzip less.
set_source_files_properties(${PROJECT_SOURCE_DIR}/engine/model/matrix.cc
  # Look at every logit of every token: with -Oz one at a time, which took a hundredth of a decode step of GPT-2 124M.
  ${PROJECT_SOURCE_DIR}/engine/generate/not_finite.cc ${PROJECT_SOURCE_DIR}/engine/generate/rank.cc PROPERTIES COMPILE_OPTIONS -Os)
# What tries 54 scales for each 32 weights, and what multiplies an adapter's factors.
set_source_files_properties(${PROJECT_SOURCE_DIR}/engine/convert/quantize_q4.cc
  ${PROJECT_SOURCE_DIR}/engine/convert/low_rank.cc PROPERTIES COMPILE_OPTIONS "-O2;-fno-unroll-loops")

# A small strtod and snprintf for the JSON library.
foreach(_engine simd threads)
  target_sources(gpt2_format-${_engine} PRIVATE ${PROJECT_SOURCE_DIR}/engine/format/wasm_libc.cc)
  target_link_options(gpt2_format-${_engine} INTERFACE -Wl,--wrap=strtod)
endforeach()

# gpt2_add_wasm_variant(ENGINE NAME OPTIONS...): gpt2-NAME.js and gpt2-NAME.wasm.
function(gpt2_add_wasm_variant engine name)
  gpt2_add_kernels(-${name} -msimd128 -O3 ${ARGN})
  list(JOIN _exports-${engine} "," exports)
  add_executable(gpt2-${name} api/module.cc)
  set_target_properties(gpt2-${name} PROPERTIES SUFFIX .js
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/engine)
  target_link_libraries(gpt2-${name} PRIVATE gpt2_api-${engine} gpt2_kernels-${name})
  target_link_options(gpt2-${name} PRIVATE ${ARGN} -Oz -Wl,--wrap=snprintf
    -sMODULARIZE -sEXPORT_ES6 -sEXPORT_NAME=createGpt2 -sENVIRONMENT=worker
    -sEXPORTED_FUNCTIONS=${exports}
    -sIMPORTED_MEMORY -sINCOMING_MODULE_JS_API=wasmMemory,instantiateWasm -sALLOW_MEMORY_GROWTH -sINITIAL_MEMORY=4MB -sMAXIMUM_MEMORY=4GB
    -sBINARYEN_EXTRA_PASSES=--converge -sSTACK_SIZE=256KB -sFILESYSTEM=0 -sMALLOC=emmalloc -sWASM_ASYNC_COMPILATION=0 -sDYNAMIC_EXECUTION=0 -sSTRICT --no-entry
    -Wno-pthreads-mem-growth)
endfunction()

gpt2_add_wasm_variant(simd simd)
gpt2_add_wasm_variant(simd simd-relaxed -mrelaxed-simd)
gpt2_add_wasm_variant(threads threads -pthread)
gpt2_add_wasm_variant(threads threads-relaxed -pthread -mrelaxed-simd)

# One script serves both builds without threads (pack-engine.mjs), so both export the same, in the same order: that of
# libraries, of which these come first.
foreach(_pair "simd convert.cc" "simd-relaxed no_convert.cc")
  separate_arguments(_pair)
  list(GET _pair 0 _variant)
  list(GET _pair 1 _source)
  set(_library gpt2_convert_api-${_variant})
  add_library(${_library} STATIC api/${_source})
  target_link_libraries(${_library} PRIVATE gpt2_flags)
  target_compile_options(${_library} PRIVATE -fno-rtti -msimd128 -Oz -flto)
  add_dependencies(gpt2-${_variant} ${_library})
  target_link_options(gpt2-${_variant} PRIVATE $<TARGET_FILE:${_library}>)
endforeach()

# Without a script of its own: web/src/languages starts it.
gpt2_read_exports(_languages_exports languages.h)
list(JOIN _languages_exports "," _languages_exports)
add_executable(gpt2-languages api/languages.cc api/reply.cc)
set_target_properties(gpt2-languages PROPERTIES SUFFIX .wasm RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/engine)
target_compile_options(gpt2-languages PRIVATE -fno-rtti -msimd128 -Oz -flto)
target_link_libraries(gpt2-languages PRIVATE gpt2_languages-simd)
target_link_options(gpt2-languages PRIVATE -Oz -Wl,--wrap=snprintf -sSTANDALONE_WASM --no-entry
  -sEXPORTED_FUNCTIONS=${_languages_exports} -sIMPORTED_MEMORY -sALLOW_MEMORY_GROWTH -sINITIAL_MEMORY=4MB -sMAXIMUM_MEMORY=1GB
  -sSTACK_SIZE=256KB -sFILESYSTEM=0 -sMALLOC=emmalloc -sSTRICT -sBINARYEN_EXTRA_PASSES=--converge)
