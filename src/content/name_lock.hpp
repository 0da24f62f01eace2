// A lock of the store by name, for work that only one process shall do; its file goes when nobody needs it.
#pragma once

#include <string>

#include "base/file_lock.hpp"
#include "base/unique_fd.hpp"
#include "coracle/error.hpp"

namespace coracle::content {

class NameLock {
public:
    // Waits. STORE/tmp/<name>.lock; `store` must outlive it.
    static Result<NameLock> acquire(const base::UniqueFd& store, const std::string& name);

    NameLock(NameLock&& other) noexcept;
    NameLock& operator=(NameLock&&) = delete;
    ~NameLock();

private:
    NameLock(int store, std::string path, base::FileLock lock)
        : store_(store), path_(std::move(path)), lock_(std::move(lock)) {}

    int store_;
    std::string path_;
    base::FileLock lock_;
};

}  // namespace coracle::content
