// Every file that fuzzing starts from or once failed on goes through its target again.
#include <gtest/gtest.h>

#include <map>

#include "fuzz/composed_archive.hpp"
#include "fuzz/targets.hpp"
#include "support/import_kit.hpp"
#include "support/test_dir.hpp"

namespace coracle::fuzz {
namespace {

TEST(Fuzz, CorporaAreReplayedWithoutAFault) {
    const std::filesystem::path corpora = CORACLE_SOURCE_DIR "/tests/fuzz/corpus";
    const std::map<std::string, void (*)(std::string_view)> targets = {
        {"layer", layer}, {"documents", documents}, {"words", words}, {"archive", archive}, {"bus", bus}};
    for (const auto& [name, target] : targets) {
        int replayed = 0;
        for (const auto& entry : std::filesystem::directory_iterator(corpora / name)) {
            SCOPED_TRACE(entry.path());
            target(test::read_text(entry.path()));
            ++replayed;
        }
        EXPECT_GT(replayed, 0) << name;
    }
}

// Else fuzzing from them would not reach what lies behind the digests.
TEST(Fuzz, ComposedArchivesAreImages) {
    int imported = 0;
    for (const auto& entry : std::filesystem::directory_iterator(CORACLE_SOURCE_DIR "/tests/fuzz/corpus/archive")) {
        if (!entry.path().filename().string().starts_with("composed-")) continue;
        SCOPED_TRACE(entry.path());
        const test::TestDir dir;
        const auto archive = compose_archive(test::read_text(entry.path()));
        ASSERT_TRUE(archive);
        const auto store = content::Store::open(dir.path() / "store");
        ASSERT_TRUE(store) << store.error().message;
        const auto images = test::import_images(*store, dir.write("image.tar", *archive));
        EXPECT_TRUE(images) << images.error().message;
        ++imported;
    }
    EXPECT_GT(imported, 0);
}

}  // namespace
}  // namespace coracle::fuzz
