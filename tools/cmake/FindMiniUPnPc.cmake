# Finds libminiupnpc; defines the target MiniUPnPc::miniupnpc. (Its own CMake
# package exists in Debian 13 only.)

find_path(MiniUPnPc_INCLUDE_DIR miniupnpc/miniupnpc.h)
find_library(MiniUPnPc_LIBRARY miniupnpc)
mark_as_advanced(MiniUPnPc_INCLUDE_DIR MiniUPnPc_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MiniUPnPc
  REQUIRED_VARS MiniUPnPc_LIBRARY MiniUPnPc_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "install libminiupnpc-dev")

if(MiniUPnPc_FOUND AND NOT TARGET MiniUPnPc::miniupnpc)
  add_library(MiniUPnPc::miniupnpc UNKNOWN IMPORTED)
  set_target_properties(MiniUPnPc::miniupnpc PROPERTIES
    IMPORTED_LOCATION ${MiniUPnPc_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${MiniUPnPc_INCLUDE_DIR})
endif()
