# Finds libuv by pkg-config; defines LibUV_VERSION and the target LibUV::uv.

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_LIBUV QUIET libuv)
  set(LibUV_VERSION ${PC_LIBUV_VERSION})
endif()
find_path(LibUV_INCLUDE_DIR uv.h HINTS ${PC_LIBUV_INCLUDE_DIRS})
find_library(LibUV_LIBRARY uv HINTS ${PC_LIBUV_LIBRARY_DIRS})
mark_as_advanced(LibUV_INCLUDE_DIR LibUV_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibUV
  REQUIRED_VARS LibUV_LIBRARY LibUV_INCLUDE_DIR
  VERSION_VAR LibUV_VERSION
  REASON_FAILURE_MESSAGE "install libuv1-dev and pkg-config")

if(LibUV_FOUND AND NOT TARGET LibUV::uv)
  add_library(LibUV::uv UNKNOWN IMPORTED)
  set_target_properties(LibUV::uv PROPERTIES
    IMPORTED_LOCATION ${LibUV_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${LibUV_INCLUDE_DIR})
endif()
