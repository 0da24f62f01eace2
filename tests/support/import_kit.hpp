// Imports images the way the engine does in its own process, for tests.
#pragma once

#include <unistd.h>

#include "base/try.hpp"
#include "importer/import.hpp"

namespace coracle::test {

inline plan::Ownership own() { return ::geteuid() == 0 ? plan::Ownership::root : plan::Ownership::single; }

inline Result<std::vector<image::Image>> import_images(const content::Store& store, const std::filesystem::path& source,
                                                       const std::optional<std::string>& tag = {},
                                                       snapshot::IntakeOptions intake = {.ownership = own()}) {
    TRY(auto imported, importer::import(store, {.path = source, .stream = {}}, tag, intake));
    std::vector<image::Image> images;
    for (auto& each : imported) images.push_back(std::move(each.image));
    return images;
}

}  // namespace coracle::test
