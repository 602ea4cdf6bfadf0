# engine_tests as WebAssembly: engine_tests itself for Node.js, and engine_tests-VARIANT for browsers, one
# for each build that a page chooses from. GoogleTest is compiled from Debian's sources.

# Tests are compiled once, for memory that threads may share; a build without threads links them as well. Those that start
# threads are compiled with them and without, and those of the kernels with relaxed SIMD and without.
set(_kernel_tests kernels/kernels_test.cc)
set(_shared ${engine_test_sources})
list(REMOVE_ITEM _shared ${_kernel_tests} ${thread_test_sources})

file(STRINGS /usr/src/googletest/CMakeLists.txt _version REGEX "set\\(GOOGLETEST_VERSION ")
string(REGEX REPLACE ".*VERSION ([0-9.]+).*" "\\1" _version "${_version}")
gpt2_check_version(GoogleTest "${_version}" 1.12 2 /usr/src/googletest)

set(_googletest /usr/src/googletest/googletest)
add_library(gpt2_gtest STATIC ${_googletest}/src/gtest-all.cc ${_googletest}/src/gtest_main.cc)
target_include_directories(gpt2_gtest SYSTEM PUBLIC ${_googletest}/include PRIVATE ${_googletest})
target_compile_options(gpt2_gtest PRIVATE -O1 -pthread)
target_compile_definitions(gpt2_gtest PUBLIC GTEST_HAS_PTHREAD=1) # GoogleTest does not detect it
target_link_libraries(gpt2_gtest PRIVATE gpt2_flags)

# gpt2_add_test_objects(NAME SOURCES... OPTIONS OPTIONS...)
function(gpt2_add_test_objects name)
  cmake_parse_arguments(ARG "" "" "OPTIONS" ${ARGN})
  add_library(${name} OBJECT ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC gpt2_flags gpt2_gtest)
  target_compile_options(${name} PRIVATE ${engine_test_options} -msimd128 ${ARG_OPTIONS})
  target_compile_definitions(${name} PRIVATE GPT2_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data")
endfunction()

gpt2_add_test_objects(test_support ${test_support_sources} OPTIONS -pthread)
target_precompile_headers(test_support PRIVATE ${test_precompiled_headers})
gpt2_add_test_objects(system_threads ${PROJECT_SOURCE_DIR}/engine/base/system_threads.cc OPTIONS -pthread)
gpt2_add_test_objects(engine_test_objects ${_shared} OPTIONS -pthread)
gpt2_add_test_objects(memory_test_objects ${memory_test_sources} OPTIONS -pthread)
gpt2_add_test_objects(thread_test_objects-threads ${thread_test_sources} OPTIONS -pthread)
gpt2_add_test_objects(thread_test_objects-simd ${thread_test_sources})
gpt2_add_test_objects(kernel_test_objects-simd ${_kernel_tests} OPTIONS -pthread)
gpt2_add_test_objects(kernel_test_objects-relaxed ${_kernel_tests} OPTIONS -pthread -mrelaxed-simd)
foreach(_objects engine_test_objects memory_test_objects thread_test_objects-threads)
  target_precompile_headers(${_objects} REUSE_FROM test_support)
endforeach()
target_compile_definitions(kernel_test_objects-simd PRIVATE GPT2_FASTEST_KERNELS="simd128")
target_compile_definitions(kernel_test_objects-relaxed PRIVATE GPT2_FASTEST_KERNELS="relaxed")

# Link options of all programs. They have no more than -O1, because Binaryen 120 stops when it evaluates relaxed dot products of
# constants.
set(_links -O1 -sALLOW_MEMORY_GROWTH -sSTACK_SIZE=1MB -sEXIT_RUNTIME -Wno-pthreads-mem-growth)

# gpt2_link_wasm_tests(TARGET ENGINE KERNELS OBJECTS...): a program of the tests in OBJECTS, with KERNELS, and with
# threads if ENGINE is "threads".
function(gpt2_link_wasm_tests target engine kernels)
  add_executable(${target})
  if(engine STREQUAL threads)
    target_link_libraries(${target} PRIVATE gpt2_thread_pool system_threads)
  else()
    target_link_libraries(${target} PRIVATE gpt2_no_threads)
  endif()
  target_link_libraries(${target} PRIVATE ${ARGN} test_support gpt2_gtest gpt2_api-convert gpt2_api-languages gpt2_kernels-${kernels})
  target_link_options(${target} PRIVATE ${_links})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
endfunction()

# gpt2_add_wasm_tests(TARGET ENGINE KERNELS): the tests of one variant.
function(gpt2_add_wasm_tests target engine kernels)
  gpt2_link_wasm_tests(${target} ${engine} ${kernels}
    engine_test_objects thread_test_objects-${engine} kernel_test_objects-${kernels})
endfunction()

# Runs `target` in Node.js with the file system of the machine, as `ctest` does.
function(gpt2_run_in_node target)
  target_link_options(${target} PRIVATE -sNODERAWFS -sENVIRONMENT=node)
  set_target_properties(${target} PROPERTIES SUFFIX .cjs)
  add_test(NAME ${target} COMMAND node $<TARGET_FILE:${target}>)
  set_tests_properties(${target} PROPERTIES TIMEOUT ${most_seconds})
endfunction()

# tests/browsers/engine-tests-worker.js runs it. main() waits for threads, so it runs in a separate thread.
function(gpt2_add_browser_tests engine variant kernels)
  set(target engine_tests-${variant})
  gpt2_add_wasm_tests(${target} ${engine} ${kernels})
  set_target_properties(${target} PROPERTIES SUFFIX .mjs)
  target_link_options(${target} PRIVATE ${ARGN} -sMODULARIZE -sEXPORT_ES6 -sENVIRONMENT=worker
    -sEXPORTED_RUNTIME_METHODS=FS $<$<IN_LIST:-pthread,${ARGN}>:-sPROXY_TO_PTHREAD>)
endfunction()

gpt2_add_wasm_tests(engine_tests simd simd)
gpt2_run_in_node(engine_tests)

gpt2_link_wasm_tests(out_of_memory_tests simd simd memory_test_objects)
target_link_options(out_of_memory_tests PRIVATE ${memory_test_links})
gpt2_run_in_node(out_of_memory_tests)

gpt2_add_browser_tests(simd simd simd)
gpt2_add_browser_tests(simd simd-relaxed relaxed -mrelaxed-simd)
gpt2_add_browser_tests(threads threads simd -pthread)
gpt2_add_browser_tests(threads threads-relaxed relaxed -pthread -mrelaxed-simd)
