# Finds the GNU Linear Programming Kit; defines GLPK_VERSION and GLPK::glpk.

find_path(GLPK_INCLUDE_DIR glpk.h)
find_library(GLPK_LIBRARY glpk)
mark_as_advanced(GLPK_INCLUDE_DIR GLPK_LIBRARY)

if(GLPK_INCLUDE_DIR)
  file(STRINGS ${GLPK_INCLUDE_DIR}/glpk.h _glpk_lines
       REGEX "^#define GLP_M(AJOR|INOR)_VERSION +[0-9]+")
  if(_glpk_lines MATCHES "MAJOR_VERSION +([0-9]+)")
    set(GLPK_VERSION ${CMAKE_MATCH_1})
    if(_glpk_lines MATCHES "MINOR_VERSION +([0-9]+)")
      string(APPEND GLPK_VERSION .${CMAKE_MATCH_1})
    endif()
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(GLPK
  REQUIRED_VARS GLPK_LIBRARY GLPK_INCLUDE_DIR
  VERSION_VAR GLPK_VERSION
  REASON_FAILURE_MESSAGE "install libglpk-dev")

if(GLPK_FOUND AND NOT TARGET GLPK::glpk)
  add_library(GLPK::glpk UNKNOWN IMPORTED)
  set_target_properties(GLPK::glpk PROPERTIES
    IMPORTED_LOCATION ${GLPK_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${GLPK_INCLUDE_DIR})
endif()
