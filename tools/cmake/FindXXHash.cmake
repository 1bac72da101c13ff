# Finds xxHash; defines XXHash_VERSION and the target XXHash::xxhash. Where the
# library can choose its vector instructions when it runs (Debian's on x86-64),
# whoever links the target has XXHASH_DISPATCH defined.

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
  include(CheckCXXSourceCompiles)
  include(CMakePushCheckState)
  cmake_push_check_state(RESET)
  set(CMAKE_REQUIRED_LIBRARIES XXHash::xxhash)
  check_cxx_source_compiles("
    #include <xxhash.h>
    #include <xxh_x86dispatch.h>
    int main() { return XXH3_64bits_dispatch(\"\", 0) == 0; }"
    XXHash_DISPATCHES)
  cmake_pop_check_state()
  if(XXHash_DISPATCHES)
    set_property(TARGET XXHash::xxhash
      PROPERTY INTERFACE_COMPILE_DEFINITIONS XXHASH_DISPATCH)
  endif()
endif()
