# Finds libnatpmp, which has no pkg-config file in Debian 12; defines the target
# NATPMP::natpmp.

find_path(NATPMP_INCLUDE_DIR natpmp.h)
find_library(NATPMP_LIBRARY natpmp)
mark_as_advanced(NATPMP_INCLUDE_DIR NATPMP_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(NATPMP
  REQUIRED_VARS NATPMP_LIBRARY NATPMP_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "install libnatpmp-dev")

if(NATPMP_FOUND AND NOT TARGET NATPMP::natpmp)
  add_library(NATPMP::natpmp UNKNOWN IMPORTED)
  set_target_properties(NATPMP::natpmp PROPERTIES
    IMPORTED_LOCATION ${NATPMP_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${NATPMP_INCLUDE_DIR})
endif()
