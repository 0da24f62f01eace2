# Puts the texts of profiles/seccomp/*.json into a generated source of module policy: build/coracle stands alone.
function(coracle_embed_profiles target)
  file(GLOB profiles CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/profiles/seccomp/*.json)
  list(LENGTH profiles profile_count)
  set(profile_rows "")
  foreach(profile IN LISTS profiles)
    cmake_path(GET profile STEM name)
    file(READ ${profile} text)
    string(APPEND profile_rows "    {\"${name}\", R\"profile(${text})profile\"},\n")
  endforeach()

  # Filters that another coracle compiled are told apart by the sources they came from.
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/policy/*)
  set(hashes "")
  foreach(source IN LISTS profiles sources)
    file(SHA256 ${source} hash)
    string(APPEND hashes ${hash})
  endforeach()
  string(SHA256 seccomp_revision "${hashes}")

  # A change of a text is a reason to configure again.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${profiles} ${sources})
  set(generated ${PROJECT_BINARY_DIR}/generated/embedded_seccomp.cpp)
  configure_file(${PROJECT_SOURCE_DIR}/src/policy/embedded_seccomp.cpp.in ${generated} @ONLY)
  target_sources(${target} PRIVATE ${generated})
endfunction()
