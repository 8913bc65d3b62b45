# `cmake --install build/release --prefix DIR`, and `cpack` in build/release for a .deb. libtorch's libraries for CPUs are installed in
# their own folder. The programs find it by a relative path, so the prefix may be moved. They also print their man pages and completion.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # installs what was built, without building tests first
include(GNUInstallDirs)
set(private_folder "${CMAKE_INSTALL_LIBDIR}/bertpretrain")
set(programs bertpretrain_data)
if(BERTPRETRAIN_TORCH)
  list(APPEND programs bertpretrain)
endif()
if(BERTPRETRAIN_SANITIZER)
  return()
endif()

foreach(program IN LISTS programs)
  set(manual "${CMAKE_BINARY_DIR}/manual/${program}.1")
  set(completion "${CMAKE_BINARY_DIR}/manual/${program}.bash")
  add_custom_command(TARGET ${program} POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E make_directory "${CMAKE_BINARY_DIR}/manual"
    COMMAND $<TARGET_FILE:${program}> --man-page > "${manual}"
    COMMAND $<TARGET_FILE:${program}> --bash-completion > "${completion}" VERBATIM)
  install(TARGETS ${program} RUNTIME)
  install(FILES "${manual}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
  install(FILES "${completion}" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" RENAME "${program}")
endforeach()
install(DIRECTORY configs/ DESTINATION "${CMAKE_INSTALL_DATADIR}/bertpretrain/configs" FILES_MATCHING PATTERN "*.json" PATTERN "*.csv")

if(BERTPRETRAIN_TORCH)
  file(RELATIVE_PATH to_private "/${CMAKE_INSTALL_BINDIR}" "/${private_folder}")
  set_target_properties(bertpretrain PROPERTIES INSTALL_RPATH "$ORIGIN/${to_private}")
  # Neither the GPU modules nor libtorch_cuda, which has gigabytes, are installed: GPU users take the image.
  # libcudart and libcupti: the wheel's libtorch_cpu links against them, with or without a GPU.
  get_filename_component(site_packages "${LIBTORCH_ROOT}" DIRECTORY)
  file(GLOB bundled "${LIBTORCH_ROOT}/lib/libtorch_cpu.so" "${LIBTORCH_ROOT}/lib/libc10.so" "${LIBTORCH_ROOT}/lib/libgomp*.so*"
       "${site_packages}/nvidia/*/lib/libcudart.so.*" "${site_packages}/nvidia/*/lib/libcupti.so.*")
  install(FILES ${bundled} DESTINATION "${private_folder}")
  foreach(package torch nvidia_cuda_runtime nvidia_cuda_cupti)
    file(GLOB licences "${site_packages}/${package}-*.dist-info/licenses")
    if(licences)
      install(DIRECTORY "${licences}/" DESTINATION "${CMAKE_INSTALL_DOCDIR}/${package}")
    endif()
  endforeach()
  # libgomp has GCC's licence with the exception for run-time libraries; Debian has its text in /usr/share/common-licenses/GPL-3.
  install(FILES scripts/cmake/libgomp_licence.txt DESTINATION "${CMAKE_INSTALL_DOCDIR}/libgomp")
endif()

include(portable)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "bertpretrain's developers <bertpretrain@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Pretrains BERT from a Wikipedia dump to a checkpoint (for CPUs)")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libcurl4 | libcurl4t64, ca-certificates")  # opened for object stores only
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)  # finds the Debian packages that the libraries belong to
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${LIBTORCH_ROOT}/lib ${site_packages}/nvidia/cu13/lib)
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)
include(CPack)
