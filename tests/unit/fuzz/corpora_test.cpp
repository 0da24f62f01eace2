// Every file that fuzzing starts from or once failed on goes through its target again.
#include <gtest/gtest.h>

#include <map>

#include "fuzz/targets.hpp"
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

}  // namespace
}  // namespace coracle::fuzz
