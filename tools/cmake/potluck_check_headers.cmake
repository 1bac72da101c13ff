# The target `check_headers`: compiles on its own every header that no source
# file includes before all others, for those are so compiled already. It is not
# part of `all`; .ci/check_headers builds it. Being a target, it is incremental,
# parallel and cached like everything else.

add_custom_target(check_headers)

# What the sources include first: five headers in six.
set(_folders messages runtime actors models tools)
if(POTLUCK_TESTS)
  list(APPEND _folders tests)
endif()
set(_included_first)
foreach(_folder IN LISTS _folders)
  file(GLOB_RECURSE _sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${_folder}/*.cpp)
  foreach(_source IN LISTS _sources)
    file(STRINGS ${_source} _first REGEX "^#include" LIMIT_COUNT 1)
    if(_first MATCHES "\"(.*)\"")
      list(APPEND _included_first ${CMAKE_MATCH_1})
    endif()
  endforeach()
endforeach()

# potluck_check_headers(<name> <folder> [MATCHING <regex of the content>]
#                       [NOT_MATCHING <regex>] LIBRARIES <library>...)
function(potluck_check_headers name folder)
  cmake_parse_arguments(ARG "" "MATCHING;NOT_MATCHING" "LIBRARIES" ${ARGN})
  file(GLOB_RECURSE headers RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
       ${PROJECT_SOURCE_DIR}/${folder}/*.hpp)
  set(sources)
  list(REMOVE_ITEM headers ${_included_first})
  foreach(header IN LISTS headers)
    file(STRINGS ${PROJECT_SOURCE_DIR}/${header} includes REGEX "^#include")
    if(ARG_MATCHING AND NOT includes MATCHES "${ARG_MATCHING}")
      continue()
    endif()
    if(ARG_NOT_MATCHING AND includes MATCHES "${ARG_NOT_MATCHING}")
      continue()
    endif()
    set(source ${CMAKE_BINARY_DIR}/check_headers/${header}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${header}\"\n")
    list(APPEND sources ${source})
  endforeach()
  if(sources)
    add_library(check_headers_${name} OBJECT EXCLUDE_FROM_ALL ${sources})
    target_include_directories(check_headers_${name} PRIVATE
                               ${PROJECT_SOURCE_DIR})
    target_link_libraries(check_headers_${name} PRIVATE ${ARG_LIBRARIES})
    add_dependencies(check_headers check_headers_${name})
  endif()
endfunction()

potluck_check_headers(messages messages LIBRARIES potluck::messages)
potluck_check_headers(runtime runtime LIBRARIES potluck::runtime LibUV::uv)
potluck_check_headers(actors actors LIBRARIES potluck::actors)
potluck_check_headers(models models NOT_MATCHING "<(torch|ATen|c10)/"
                      LIBRARIES potluck::models torch)
potluck_check_headers(models_torch models MATCHING "<(torch|ATen|c10)/"
                      LIBRARIES potluck::models torch)
potluck_check_headers(tools tools LIBRARIES potluck_commands LibUV::uv)
if(POTLUCK_TESTS)
  # What tests/ found is known there only.
  find_package(doctest REQUIRED)
  potluck_check_headers(tests tests/support
                        LIBRARIES potluck::actors doctest::doctest)
endif()

# LibTorch's own headers come precompiled here too: minutes become seconds.
if(TARGET check_headers_models_torch)
  target_precompile_headers(check_headers_models_torch
                            PRIVATE <torch/torch.h>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(check_headers_models_torch PRIVATE -fpch-preprocess)
  endif()
endif()
