# Finds libqrencode; defines the target QRencode::qrencode.

find_path(QRENCODE_INCLUDE_DIR qrencode.h)
find_library(QRENCODE_LIBRARY qrencode)
mark_as_advanced(QRENCODE_INCLUDE_DIR QRENCODE_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(QRencode
  REQUIRED_VARS QRENCODE_LIBRARY QRENCODE_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "install libqrencode-dev")

if(QRencode_FOUND AND NOT TARGET QRencode::qrencode)
  add_library(QRencode::qrencode UNKNOWN IMPORTED)
  set_target_properties(QRencode::qrencode PROPERTIES
    IMPORTED_LOCATION ${QRENCODE_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${QRENCODE_INCLUDE_DIR})
endif()
