// An archive of images is imported: all of it is there and named afterwards, or nothing is named. Of most of its inputs
// the digests are right.
#include <unistd.h>

#include <fstream>

#include "fuzz/composed_archive.hpp"
#include "fuzz/small_limits.hpp"
#include "fuzz/targets.hpp"
#include "importer/import.hpp"
#include "support/scratch_dir.hpp"

namespace coracle::fuzz {

void archive(std::string_view input) {
    const testing::ScratchDir scratch;
    const auto file = scratch.path() / "archive.tar";
    std::ofstream(file, std::ios::binary) << compose_archive(input).value_or(std::string(input));
    const auto store = content::Store::open(scratch.path() / "store");
    promise(store.has_value(), "a store can be made");

    snapshot::IntakeOptions options;
    options.ownership = ::geteuid() == 0 ? plan::Ownership::root : plan::Ownership::single;
    options.limits = small_limits();
    const auto images = importer::import(*store, {.path = file, .stream = {}}, {}, options);
    const auto tags = store->tags();
    promise(tags.has_value(), "the store stays readable");
    if (!images) {
        promise(tags->empty(), "nothing is named where anything failed");
        return;
    }
    for (const auto& imported : *images) {
        promise(image::resolve(*store, imported.image.ref).has_value(), "an image that came in can be found");
    }
}

}  // namespace coracle::fuzz
