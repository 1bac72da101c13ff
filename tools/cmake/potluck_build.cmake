# How every target of this project is compiled, and `potluck_library()`.

set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON) # others may link us into a shared object
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

include(GNUInstallDirs)

# An unchanged file costs 0.04 s with ccache instead of up to 16 s without. The
# sloppiness is what ccache asks for before it caches anything that uses a
# precompiled header.
find_program(POTLUCK_CCACHE ccache)
if(POTLUCK_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
      CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      ${POTLUCK_CCACHE})
endif()

add_compile_options(-Wall -Wextra)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  add_compile_options(-Wno-unknown-pragmas) # `GCC ivdep`; it needs none.
endif()
if(POTLUCK_WERROR)
  add_compile_options(-Werror)
endif()

# What every peer computes alike from a mean (the optimizer step, norms,
# digests) must give the same bits on every machine. Compilers fuse a*b+c into
# one rounding where the target has FMA and the language allows it: on some
# machines only, so peers would drift apart. Never fuse.
add_compile_options(-ffp-contract=off)

# What a sanitizer finds ends the program. (tools/sanitize) Without -O1 the
# longest tests take twice the time or more.
if(POTLUCK_SANITIZE)
  add_compile_options(-fsanitize=${POTLUCK_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer -g1 -O1)
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
  add_link_options(-fsanitize=${POTLUCK_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # CAF's templates are most of what is compiled in actors/ and its tests.
    set(_ignored ${CMAKE_CURRENT_LIST_DIR}/sanitize_not.txt)
    add_compile_options(-fsanitize-ignorelist=${_ignored})
  else()
    add_compile_options(-Wno-maybe-uninitialized) # Wrong in what they insert.
  endif()
endif()

# potluck_precompiled_if_sanitized(<target> <header>...)
#
# With CAF's headers compiled beforehand clang takes half as long. Without
# ccache, which brings back what was compiled from older ones.
function(potluck_precompiled_if_sanitized target)
  if(POTLUCK_SANITIZE)
    target_precompile_headers(${target} PRIVATE ${ARGN})
    set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "")
  endif()
endfunction()

# potluck_compiles_together(<target>)
#
# Compiles up to POTLUCK_FILES_TOGETHER files of one folder as one: most of the
# time goes into headers and templates that they share. So what files of one
# folder keep to themselves has different names. Files with options or
# definitions of their own are compiled alone, as CMake does it.
function(potluck_compiles_together target)
  if(POTLUCK_FILES_TOGETHER LESS 2)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  set(folders)
  foreach(source IN LISTS sources)
    get_filename_component(path ${source} ABSOLUTE)
    get_filename_component(folder ${path} DIRECTORY)
    string(MAKE_C_IDENTIFIER ${folder} folder)
    list(APPEND folders ${folder})
    list(APPEND in_${folder} ${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    # As many parts as needed, of the same size.
    list(LENGTH in_${folder} count)
    math(EXPR parts
         "(${count} + ${POTLUCK_FILES_TOGETHER} - 1) / ${POTLUCK_FILES_TOGETHER}")
    set(index 0)
    set(before -1)
    foreach(source IN LISTS in_${folder})
      math(EXPR part "${index} * ${parts} / ${count}")
      set_source_files_properties(${source} PROPERTIES
                                  UNITY_GROUP ${folder}_${part})
      if(part EQUAL before) # For potluck_check_headers.
        get_filename_component(path ${source} ABSOLUTE)
        set_property(GLOBAL APPEND PROPERTY POTLUCK_BEHIND_OTHERS ${path})
      endif()
      set(before ${part})
      math(EXPR index "${index} + 1")
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES
                        UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# potluck_library(<name> [PUBLIC <lib>...] [PRIVATE <lib>...]
#                 [EXCLUDE <regex>] [SOURCES <generated file>...])
#
# Makes every .cpp below the calling folder, without those whose path inside it
# matches EXCLUDE, into the static library `potluck_<name>`, known to others as
# `potluck::<name>`. Its include root is the top of the tree, or
# include/potluck once installed. A folder that has no .cpp becomes a library
# of headers alone.
function(potluck_library name)
  cmake_parse_arguments(ARG "" "EXCLUDE" "PUBLIC;PRIVATE;SOURCES" ${ARGN})
  file(GLOB_RECURSE found RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}
       CONFIGURE_DEPENDS *.cpp)
  if(ARG_EXCLUDE)
    list(FILTER found EXCLUDE REGEX ${ARG_EXCLUDE})
  endif()
  set(target potluck_${name})
  if(found)
    add_library(${target} STATIC ${found} ${ARG_SOURCES})
    set(scope PUBLIC)
    target_link_libraries(${target} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
    potluck_compiles_together(${target})
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
    target_link_libraries(${target} INTERFACE ${ARG_PUBLIC})
  endif()
  add_library(potluck::${name} ALIAS ${target})
  target_compile_features(${target} ${scope} cxx_std_17)
  target_include_directories(${target} ${scope}
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/potluck>)
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  install(TARGETS ${target} EXPORT potluckTargets
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()
