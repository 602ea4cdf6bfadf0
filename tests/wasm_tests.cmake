# engine_tests as WebAssembly: engine_tests itself for Node.js, and engine_tests-VARIANT for browsers, one
# for each build that a page chooses from. GoogleTest is compiled from Debian's sources.

# The kernels' own tests are compiled once per variant, all others with threads and without.
set(_per_variant kernels/kernels_test.cc)
set(_shared ${engine_test_sources})
list(REMOVE_ITEM _shared ${_per_variant})

file(STRINGS /usr/src/googletest/CMakeLists.txt _version REGEX "set\\(GOOGLETEST_VERSION ")
string(REGEX REPLACE ".*VERSION ([0-9.]+).*" "\\1" _version "${_version}")
gpt2_check_version(GoogleTest "${_version}" 1.12 2 /usr/src/googletest)

# gpt2_add_test_objects(ENGINE OPTIONS...): every test but those of the kernels, for the libraries of ENGINE.
function(gpt2_add_test_objects engine)
  set(googletest /usr/src/googletest/googletest)
  add_library(gpt2_gtest-${engine} STATIC ${googletest}/src/gtest-all.cc ${googletest}/src/gtest_main.cc)
  target_include_directories(gpt2_gtest-${engine} SYSTEM PUBLIC ${googletest}/include PRIVATE ${googletest})
  target_compile_options(gpt2_gtest-${engine} PRIVATE -O1 ${ARGN})
  target_compile_definitions(gpt2_gtest-${engine} PUBLIC
    $<$<IN_LIST:-pthread,${ARGN}>:GTEST_HAS_PTHREAD=1>) # which it would not think of by itself

  add_library(engine_test_objects-${engine} OBJECT ${_shared})
  target_link_libraries(engine_test_objects-${engine} PUBLIC gpt2_api-${engine} gpt2_gtest-${engine})
  target_compile_options(engine_test_objects-${engine} PRIVATE ${engine_test_options} -msimd128 ${ARGN})
  target_precompile_headers(engine_test_objects-${engine} PRIVATE ${test_precompiled_headers})
  target_compile_definitions(engine_test_objects-${engine} PUBLIC
    GPT2_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data")
endfunction()

# What all of them are linked with. Without optimization: Binaryen 120 stops at relaxed dot products of
# constants when it computes them itself.
set(_links -O1 -sALLOW_MEMORY_GROWTH -sSTACK_SIZE=1MB -sEXIT_RUNTIME -Wno-pthreads-mem-growth)

# gpt2_add_wasm_tests(TARGET ENGINE VARIANT KERNELS OPTIONS...): the tests of one variant, whose fastest
# kernels are KERNELS.
function(gpt2_add_wasm_tests target engine variant kernels)
  add_executable(${target} ${_per_variant})
  target_link_libraries(${target} PRIVATE engine_test_objects-${engine} gpt2_kernels-${variant})
  target_compile_options(${target} PRIVATE ${engine_test_options} -msimd128 ${ARGN})
  target_compile_definitions(${target} PRIVATE GPT2_FASTEST_KERNELS="${kernels}")
  target_link_options(${target} PRIVATE ${ARGN} ${_links})
endfunction()

# Runs as `ctest` does, with the file system of the machine.
function(gpt2_run_in_node target)
  target_link_options(${target} PRIVATE -sNODERAWFS -sENVIRONMENT=node)
  set_target_properties(${target} PROPERTIES SUFFIX .cjs)
  add_test(NAME ${target} COMMAND node $<TARGET_FILE:${target}>)
  set_tests_properties(${target} PROPERTIES TIMEOUT ${most_seconds})
endfunction()

# tests/browsers/engine-tests-worker.js runs it. main() waits for threads, so it is given one of its own.
function(gpt2_add_browser_tests engine variant kernels)
  set(target engine_tests-${variant})
  gpt2_add_wasm_tests(${target} ${engine} ${variant} ${kernels} ${ARGN})
  set_target_properties(${target} PROPERTIES SUFFIX .mjs)
  target_link_options(${target} PRIVATE -sMODULARIZE -sEXPORT_ES6 -sENVIRONMENT=worker
    -sEXPORTED_RUNTIME_METHODS=FS $<$<IN_LIST:-pthread,${ARGN}>:-sPROXY_TO_PTHREAD>)
endfunction()

gpt2_add_test_objects(simd)
gpt2_add_test_objects(threads -pthread)

gpt2_add_wasm_tests(engine_tests simd simd simd128)
gpt2_run_in_node(engine_tests)

add_executable(out_of_memory_tests ${memory_test_sources})
target_link_libraries(out_of_memory_tests PRIVATE gpt2_api-simd gpt2_kernels-simd gpt2_gtest-simd)
target_compile_options(out_of_memory_tests PRIVATE ${engine_test_options} -msimd128)
target_compile_definitions(out_of_memory_tests PRIVATE GPT2_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data")
target_link_options(out_of_memory_tests PRIVATE ${_links} ${memory_test_links})
gpt2_run_in_node(out_of_memory_tests)

gpt2_add_browser_tests(simd simd simd128)
gpt2_add_browser_tests(simd simd-relaxed relaxed -mrelaxed-simd)
gpt2_add_browser_tests(threads threads simd128 -pthread)
gpt2_add_browser_tests(threads threads-relaxed relaxed -pthread -mrelaxed-simd)
