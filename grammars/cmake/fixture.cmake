cmake_minimum_required(VERSION 3.20)
project(shop)

# Adds a library with tests.
function(shop_add_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES" ${ARGN})
  add_library(${name} ${ARG_SOURCES})
endfunction()

MACRO(shop_warn text)
  message(WARNING "text with ) and function(fake)")
ENDMACRO()

#[[ A block comment:
function(not_this)
]]
shop_add_library(orders SOURCES orders.c)
add_library(items STATIC
  items.c # the items
)
add_library(shop::items ALIAS items)
add_executable(shop main.c)
target_link_libraries(shop PRIVATE orders shop::items $<TARGET_FILE:x>)
if(WIN32)
  shop_warn([=[no ]] windows]=])
endif()
add_custom_target(docs ALL COMMAND doxygen DEPENDS shop)
add_dependencies(docs shop)
file(APPEND x \"not_text\", "a}\n")
function(shop_last)
endfunction()
