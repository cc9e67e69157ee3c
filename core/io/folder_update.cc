#include "core/io/folder_update.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/error.h"
#include "core/base/search.h"
#include "core/io/folder_lock.h"
#include "files/atomic_file.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOld = ".tenon-old";

void move(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  require_code(!error, Code::kUnavailable, "{}: cannot be renamed to {}: {}", from.string(),
               to.filename().string(), error.message());
}

}  // namespace

FolderUpdate::FolderUpdate(const std::string& folder) : folder_(folder) {
  std::error_code error;
  made_folder_ = fs::create_directory(folder_, error);
  if (!error && fs::is_directory(folder_)) return;
  const bool nowhere = error == std::errc::no_such_file_or_directory;
  fail(nowhere ? Code::kNotFound : Code::kUnavailable, "{}: cannot be made a folder: {}",
       {folder, error ? error.message() : "it is a file"});
}

FolderUpdate::~FolderUpdate() {
  if (is_done_) return;
  std::error_code ignored;
  for (const std::string& path : new_paths_) fs::remove(path, ignored);
  if (made_folder_) fs::remove(folder_, ignored);
}

std::string FolderUpdate::add(const std::string& name) {
  names_.push_back(name);
  new_paths_.push_back(tenon_files::unique_path(folder_.string()));
  return new_paths_.back();
}

void FolderUpdate::write(const std::string& name, const std::string& bytes) {
  const std::string path = add(name);
  tenon_files::AtomicFile file(path);
  file.write(bytes);
  require_code(file.finish(), Code::kUnavailable, "{}: cannot be written: {}",
               (folder_ / name).string(), std::strerror(file.error()));
}

void FolderUpdate::remove(const std::string& name) { removed_.push_back(name); }

void FolderUpdate::step_aside(const std::string& name) {
  std::error_code ignored;
  const fs::file_status status = fs::symlink_status(folder_ / name, ignored);
  if (!fs::exists(status) || fs::is_directory(status)) return;
  move(folder_ / name, beside(name, kOld));
  aside_.push_back(name);
}

void FolderUpdate::finish() {
  FolderLock::restore(folder_.string(), names_.empty() ? "" : names_.back());
  try {
    for (size_t i = names_.size(); i > 0; --i) step_aside(names_[i - 1]);
    for (const std::string& name : removed_) {
      if (!contains(names_, name)) step_aside(name);
    }
    for (size_t i = 0; i < names_.size(); ++i) {
      move(new_paths_[i], folder_ / names_[i]);
      ++n_in_place_;
    }
  } catch (...) {
    undo();
    throw;
  }
  is_done_ = true;
  tenon_files::synchronise_folder(folder_.string());
  std::error_code ignored;
  for (const auto* names : {&names_, &removed_}) {
    for (const std::string& name : *names) fs::remove(beside(name, kOld), ignored);
  }
}

void FolderUpdate::undo() {
  std::error_code ignored;
  for (; n_in_place_ > 0; --n_in_place_) {
    fs::rename(folder_ / names_[n_in_place_ - 1], new_paths_[n_in_place_ - 1], ignored);
  }
  for (; !aside_.empty(); aside_.pop_back()) {
    fs::rename(beside(aside_.back(), kOld), folder_ / aside_.back(), ignored);
  }
}

}  // namespace tenon
