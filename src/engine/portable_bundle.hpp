// Writes the portable OCI bundle of a prepared run: config.json and rootfs/, for plain `runc run`.
#pragma once

#include <filesystem>

#include "content/store.hpp"
#include "coracle/error.hpp"
#include "engine/prepared.hpp"

namespace coracle::engine {

// `target` is new or empty; after an Error nothing of ours is left in it.
Result<> write_portable_bundle(const content::Store& store, const Prepared& prepared,
                               const std::filesystem::path& target);

}  // namespace coracle::engine
