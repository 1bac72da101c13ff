# What `cmake --install` puts down: the libraries and their headers, the
# executables, and a CMake package, so that another project can write
#
#   find_package(potluck REQUIRED)
#   target_link_libraries(mine PRIVATE potluck::actors potluck::models)
#   ... #include "actors/peer.hpp"
#
# The package says in potluck_LICENSE under which licence all of it is.

include(CMakePackageConfigHelpers)

set(_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/potluck)

foreach(_folder messages runtime actors models tools/lab)
  get_filename_component(_above ${_folder} DIRECTORY)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${_folder}
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/potluck/${_above}
          FILES_MATCHING PATTERN "*.hpp"
          PATTERN "lab/bench" EXCLUDE
          PATTERN "lab/chaos" EXCLUDE
          PATTERN "lab/demo" EXCLUDE
          PATTERN "wire_fields.hpp" EXCLUDE # Of the codec alone.
          PATTERN "schema" EXCLUDE)
endforeach()

configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/tools/cmake/potluckConfig.cmake.in
  ${PROJECT_BINARY_DIR}/potluckConfig.cmake
  INSTALL_DESTINATION ${_package_dir})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/potluckConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)

install(FILES
  ${PROJECT_BINARY_DIR}/potluckConfig.cmake
  ${PROJECT_BINARY_DIR}/potluckConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/tools/cmake/potluck_torch.cmake
  ${PROJECT_SOURCE_DIR}/tools/cmake/FindCAF.cmake
  ${PROJECT_SOURCE_DIR}/tools/cmake/FindLibUV.cmake
  ${PROJECT_SOURCE_DIR}/tools/cmake/FindGLPK.cmake
  ${PROJECT_SOURCE_DIR}/tools/cmake/FindMiniUPnPc.cmake
  ${PROJECT_SOURCE_DIR}/tools/cmake/FindNATPMP.cmake
  ${PROJECT_SOURCE_DIR}/tools/cmake/FindXXHash.cmake
  DESTINATION ${_package_dir})
install(EXPORT potluckTargets NAMESPACE potluck:: DESTINATION ${_package_dir})
