# What `make install` puts where: headers, both libraries, the command line with its manual page and
# completion, and the files by which pkg-config (firn.pc) and CMake (firn::firn, firn::firn_static)
# find them.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(DIRECTORY include/firn DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(TARGETS firn_shared firn_static EXPORT firn
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET firn)
    install(TARGETS firn)
    install(FILES doc/firn.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    install(FILES ${completion_dir}/firn.bash RENAME firn
            DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES ${completion_dir}/firn.zsh RENAME _firn
            DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    install(FILES ${completion_dir}/firn.fish
            DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

# firn.pc finds its prefix from its own place, so that an installed tree may be moved.
file(RELATIVE_PATH pc_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(JOIN " " pc_private -lm ${thread_option})
configure_file(cmake/firn.pc.in firn.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/firn.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The targets need no other package, so their file is the package configuration itself.
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/firn)
install(EXPORT firn FILE firn-config.cmake NAMESPACE firn:: DESTINATION ${package_dir})
write_basic_package_version_file(firn-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/firn-config-version.cmake DESTINATION ${package_dir})
