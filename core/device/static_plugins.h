// The plugins linked into a static libtenon. CMake generates the table from TENON_STATIC_PLUGINS.

#pragma once

#include <tenon/plugin.h>

namespace tenon {

struct StaticPlugin {
  const char* name;  // NULL in the last row.
  tenon_plugin_query query;
};

extern const StaticPlugin tenon_static_plugins[];

}  // namespace tenon
