// A folder of STORE/tmp for what is to be removed: moving there is one rename, the deletion needs no lock any more.
#pragma once

#include "content/scratch.hpp"
#include "housekeeping/inventory.hpp"

namespace coracle::housekeeping {

// Where its owner is killed, the next coracle sweeps the folder.
class Trash {
public:
    static Result<Trash> create(const content::Store& store);

    // What is gone already is fine.
    Result<> take(const std::string& path);
    // Deletes what was taken. Error: something stays in STORE/tmp.
    Result<> empty(const Owner& owner) const;

private:
    Trash(const content::Store& store, content::Scratch scratch) : store_(&store), scratch_(std::move(scratch)) {}
    const content::Store* store_;
    content::Scratch scratch_;
    int taken_ = 0;
};

}  // namespace coracle::housekeeping
