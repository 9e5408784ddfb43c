
# The module, where there is a compiler of Fortran; it reads descriptors with that compiler's own header.
include(CheckLanguage)
check_language(Fortran)
if(CMAKE_Fortran_COMPILER)
  enable_language(Fortran)
  add_library(@NAME@_fortran STATIC fortran/@SHARED@.f90@CALLER@ fortran/@NAME@.f90 fortran/@NAME@_descriptors.c)
  add_library(@NAME@::@NAME@_fortran ALIAS @NAME@_fortran)
  set_target_properties(@NAME@_fortran PROPERTIES
    Fortran_MODULE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/fortran" POSITION_INDEPENDENT_CODE ON C_STANDARD 11)
  target_include_directories(@NAME@_fortran PUBLIC
    "$<BUILD_INTERFACE:${CMAKE_CURRENT_BINARY_DIR}/fortran>" "$<INSTALL_INTERFACE:include/fortran>")
  target_link_libraries(@NAME@_fortran PUBLIC @NAME@)
  install(TARGETS @NAME@_fortran EXPORT @NAME@Targets ARCHIVE DESTINATION lib)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/fortran/@NAME@.mod" "${CMAKE_CURRENT_BINARY_DIR}/fortran/@SHARED@.mod"@CALLER_MOD@
    DESTINATION include/fortran)
else()
  message(STATUS "there is no compiler of Fortran: the module @NAME@ is not built")
endif()
