# Finds xxHash; defines XXHash_VERSION and the target XXHash::xxhash.

find_path(XXHash_INCLUDE_DIR xxhash.h)
find_library(XXHash_LIBRARY xxhash)
mark_as_advanced(XXHash_INCLUDE_DIR XXHash_LIBRARY)

if(XXHash_INCLUDE_DIR)
  file(STRINGS ${XXHash_INCLUDE_DIR}/xxhash.h _xxhash_lines
       REGEX "^#define XXH_VERSION_(MAJOR|MINOR|RELEASE) +[0-9]+")
  if(_xxhash_lines MATCHES
     "MAJOR +([0-9]+).*MINOR +([0-9]+).*RELEASE +([0-9]+)")
    set(XXHash_VERSION ${CMAKE_MATCH_1}.${CMAKE_MATCH_2}.${CMAKE_MATCH_3})
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(XXHash
  REQUIRED_VARS XXHash_LIBRARY XXHash_INCLUDE_DIR
  VERSION_VAR XXHash_VERSION
  REASON_FAILURE_MESSAGE "install libxxhash-dev")

if(XXHash_FOUND AND NOT TARGET XXHash::xxhash)
  add_library(XXHash::xxhash UNKNOWN IMPORTED)
  set_target_properties(XXHash::xxhash PROPERTIES
    IMPORTED_LOCATION ${XXHash_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${XXHash_INCLUDE_DIR})
endif()
