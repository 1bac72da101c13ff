# Finds the C++ Actor Framework, for which Debian ships no CMake package.
#
#   find_package(CAF 0.17 REQUIRED COMPONENTS core io [openssl])
#
# Defines CAF_VERSION (read from caf/config.hpp) and the targets CAF::core,
# CAF::io and CAF::openssl, as far as they were asked for.

find_package(Threads REQUIRED)
find_path(CAF_INCLUDE_DIR caf/all.hpp)
mark_as_advanced(CAF_INCLUDE_DIR)

if(CAF_INCLUDE_DIR AND EXISTS ${CAF_INCLUDE_DIR}/caf/config.hpp)
  file(STRINGS ${CAF_INCLUDE_DIR}/caf/config.hpp _caf_line
       REGEX "^#define CAF_VERSION +[0-9]+")
  if(_caf_line MATCHES "([0-9]+)$") # 1706 is 0.17.6
    math(EXPR _caf_major "${CMAKE_MATCH_1} / 10000")
    math(EXPR _caf_minor "(${CMAKE_MATCH_1} / 100) % 100")
    math(EXPR _caf_patch "${CMAKE_MATCH_1} % 100")
    set(CAF_VERSION ${_caf_major}.${_caf_minor}.${_caf_patch})
  endif()
endif()

if(NOT CAF_FIND_COMPONENTS)
  set(CAF_FIND_COMPONENTS core io)
endif()
set(_caf_libraries)
foreach(_caf_part IN LISTS CAF_FIND_COMPONENTS)
  find_library(CAF_${_caf_part}_LIBRARY caf_${_caf_part})
  mark_as_advanced(CAF_${_caf_part}_LIBRARY)
  if(CAF_${_caf_part}_LIBRARY AND CAF_INCLUDE_DIR)
    set(CAF_${_caf_part}_FOUND TRUE)
  endif()
  if(CAF_FIND_REQUIRED_${_caf_part})
    list(APPEND _caf_libraries CAF_${_caf_part}_LIBRARY)
  endif()
endforeach()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CAF
  REQUIRED_VARS CAF_INCLUDE_DIR ${_caf_libraries}
  VERSION_VAR CAF_VERSION
  HANDLE_COMPONENTS
  REASON_FAILURE_MESSAGE "install libcaf-dev")

# CAF's 0.18 renamed most of what we use: 0.18 and later do not work. Debian 12
# and 13 both ship 0.17.6.
if(CAF_FOUND AND CAF_VERSION VERSION_GREATER_EQUAL 0.18)
  message(FATAL_ERROR
    "CAF ${CAF_VERSION} is too new: potluck is written for CAF 0.17 (libcaf-dev of Debian 12 or 13)")
endif()

if(CAF_FOUND)
  foreach(_caf_part IN LISTS CAF_FIND_COMPONENTS)
    if(CAF_${_caf_part}_FOUND AND NOT TARGET CAF::${_caf_part})
      add_library(CAF::${_caf_part} UNKNOWN IMPORTED)
      set_target_properties(CAF::${_caf_part} PROPERTIES
        IMPORTED_LOCATION ${CAF_${_caf_part}_LIBRARY}
        INTERFACE_INCLUDE_DIRECTORIES ${CAF_INCLUDE_DIR}
        INTERFACE_LINK_LIBRARIES Threads::Threads)
    endif()
  endforeach()
  foreach(_caf_part io openssl) # both build upon the core, openssl upon io too
    if(TARGET CAF::${_caf_part} AND TARGET CAF::core)
      set_property(TARGET CAF::${_caf_part} APPEND PROPERTY
                   INTERFACE_LINK_LIBRARIES CAF::core)
    endif()
  endforeach()
  if(TARGET CAF::openssl AND TARGET CAF::io)
    set_property(TARGET CAF::openssl APPEND PROPERTY
                 INTERFACE_LINK_LIBRARIES CAF::io)
  endif()
endif()
