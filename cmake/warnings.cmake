# Warnings and sanitizers for every target of the project.
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor)
if(KACCEL_WERROR)
  add_compile_options(-Werror)
endif()
if(KACCEL_SANITIZE)
  add_compile_options(-fsanitize=${KACCEL_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${KACCEL_SANITIZE})
endif()
