// A folder of STORE/tmp that lives as long as its owner; what a killed owner left is swept by the next one.
#pragma once

#include <string>

#include "base/file_lock.hpp"
#include "base/unique_fd.hpp"
#include "coracle/error.hpp"

namespace coracle::content {

class Scratch {
public:
    // `store` must stay open as long as the Scratch lives.
    static Result<Scratch> create(const base::UniqueFd& store);

    Scratch(Scratch&& other) noexcept;
    Scratch& operator=(Scratch&&) = delete;
    ~Scratch();  // removes the folder

    const base::UniqueFd& dir() const { return dir_; }
    const std::string& name() const { return name_; }

private:
    Scratch(int store, std::string name, base::FileLock lock, base::UniqueFd dir)
        : store_(store), name_(std::move(name)), lock_(std::move(lock)), dir_(std::move(dir)) {}

    int store_;
    std::string name_;
    base::FileLock lock_;
    base::UniqueFd dir_;
};

// Removes what dead owners left in STORE/tmp. What cannot be removed stays for somebody who may: a store without write
// permission can still be read, and files of subordinate ids need their user namespace. `removed` is for the tests.
struct Swept {
    int removed = 0;
    int kept = 0;
};
Swept sweep_scratch(const base::UniqueFd& store);

}  // namespace coracle::content
