# The target `check_headers`: compiles on its own every header that no source
# file includes before all others, for those are so compiled already (unless
# the source itself comes behind others: potluck_compiles_together). It is not
# part of `all`; .ci/check_headers builds it. Being a target, it is incremental,
# parallel and cached like everything else.

add_custom_target(check_headers)

# What those sources include first.
set(_folders messages runtime actors models tools)
if(POTLUCK_TESTS)
  list(APPEND _folders tests)
endif()
set(_included_first)
get_property(_behind_others GLOBAL PROPERTY POTLUCK_BEHIND_OTHERS)
foreach(_folder IN LISTS _folders)
  file(GLOB_RECURSE _sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${_folder}/*.cpp)
  if(_sources AND _behind_others)
    list(REMOVE_ITEM _sources ${_behind_others})
  endif()
  foreach(_source IN LISTS _sources)
    file(STRINGS ${_source} _first REGEX "^#include" LIMIT_COUNT 1)
    if(_first MATCHES "\"(.*)\"")
      list(APPEND _included_first ${CMAKE_MATCH_1})
    endif()
  endforeach()
endforeach()

# potluck_check_headers(<name> <folder> LIBRARIES <library>...)
#
# Headers that include one another are compiled in one go, the included ones
# first, so that each still follows nothing but what it includes: a third fewer
# compilations.
function(potluck_check_headers name folder)
  cmake_parse_arguments(ARG "" "" "LIBRARIES" ${ARGN})
  file(GLOB_RECURSE headers RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
       ${PROJECT_SOURCE_DIR}/${folder}/*.hpp)
  list(REMOVE_ITEM headers ${_included_first})
  set(continued)
  foreach(header IN LISTS headers)
    file(STRINGS ${PROJECT_SOURCE_DIR}/${header} lines REGEX "^#include \"")
    list(TRANSFORM lines REPLACE "^#include \"(.*)\".*" "\\1")
    foreach(included IN LISTS lines)
      if(included IN_LIST headers AND NOT included IN_LIST continued)
        set(before_${header} ${included})
        list(APPEND continued ${included})
        break()
      endif()
    endforeach()
  endforeach()
  set(sources)
  if(continued)
    list(REMOVE_ITEM headers ${continued})
  endif()
  foreach(header IN LISTS headers)
    set(source ${CMAKE_BINARY_DIR}/check_headers/${header}.cpp)
    set(content)
    while(header)
      string(PREPEND content "#include \"${header}\"\n")
      set(header ${before_${header}})
    endwhile()
    file(CONFIGURE OUTPUT ${source} CONTENT "${content}")
    list(APPEND sources ${source})
  endforeach()
  if(NOT sources)
    return()
  endif()
  set(target check_headers_${name})
  add_library(${target} OBJECT EXCLUDE_FROM_ALL ${sources})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE ${ARG_LIBRARIES})
  # What is checked is that it compiles, not how well.
  target_compile_options(${target} PRIVATE -O0)
  add_dependencies(check_headers ${target})
endfunction()

potluck_check_headers(messages messages LIBRARIES potluck::messages)
potluck_check_headers(runtime runtime LIBRARIES potluck::runtime LibUV::uv)
potluck_check_headers(actors actors LIBRARIES potluck::actors)
potluck_check_headers(models models LIBRARIES potluck::models torch)
potluck_check_headers(tools tools LIBRARIES potluck_commands LibUV::uv)
if(POTLUCK_TESTS)
  # What tests/ found is known there only.
  find_package(doctest REQUIRED)
  potluck_check_headers(tests tests/support
                        LIBRARIES potluck::actors doctest::doctest)
endif()
