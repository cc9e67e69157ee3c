// Range versions of std algorithms, which not every supported standard library has.

#pragma once

#include <algorithm>

namespace tenon {

template <class Range, class T>
bool contains(const Range& range, const T& value) {
  return std::find(range.begin(), range.end(), value) != range.end();
}

template <class Range, class Test>
bool any_of(const Range& range, const Test& test) {
  return std::any_of(range.begin(), range.end(), test);
}

template <class Range, class Test>
bool all_of(const Range& range, const Test& test) {
  return std::all_of(range.begin(), range.end(), test);
}

}  // namespace tenon
