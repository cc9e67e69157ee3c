# System libraries. Each include folder holds the headers of a single library, because a cross
# compiler such as Emscripten must not find other headers of /usr/include.

# tenon_header_only(target folder probe): defines an interface target for the headers in `folder`.
function(tenon_header_only target folder probe)
  find_path(${target}_ROOT ${folder}/${probe} PATHS /usr/include NO_CMAKE_FIND_ROOT_PATH)
  if(NOT ${target}_ROOT)
    message(FATAL_ERROR "${folder}/${probe} is missing; run ./dev setup")
  endif()
  set(only ${PROJECT_BINARY_DIR}/headers/${target})
  file(MAKE_DIRECTORY ${only})
  file(CREATE_LINK ${${target}_ROOT}/${folder} ${only}/${folder} SYMBOLIC)
  add_library(${target} INTERFACE)
  target_include_directories(${target} SYSTEM INTERFACE ${only})
endfunction()

tenon_header_only(tenon_json nlohmann json.hpp)

# Compiles fmt once as a library. Header-only, it would add four seconds to each file that includes
# it.
tenon_header_only(tenon_fmt_headers fmt format.h)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/headers/fmt.cc CONTENT [[
#include <fmt/format-inl.h>

namespace fmt::detail {
template dragonbox::decimal_fp<float> dragonbox::to_decimal(float) noexcept;
template dragonbox::decimal_fp<double> dragonbox::to_decimal(double) noexcept;
template locale_ref::locale_ref(const std::locale&);
template std::locale locale_ref::get<std::locale>() const;
template thousands_sep_result<char> thousands_sep_impl(locale_ref);
template char decimal_point_impl(locale_ref);
template void buffer<char>::append(const char*, const char*);
template void vformat_to(buffer<char>&, string_view, basic_format_args<format_context>, locale_ref);
}  // namespace fmt::detail
]] @ONLY)
add_library(tenon_fmt STATIC ${PROJECT_BINARY_DIR}/headers/fmt.cc)
set_target_properties(tenon_fmt PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_link_libraries(tenon_fmt PUBLIC tenon_fmt_headers)
