// A compiled filter is kept, a damaged one is never used, and no state of the store can stop a run.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "policy/bpf.hpp"
#include "support/scratch_dir.hpp"

namespace coracle::policy {
namespace {

namespace fs = std::filesystem;

class BpfCache : public ::testing::Test {
protected:
    const std::string program = compile_bpf(find_seccomp("default").value()).value();
    testing::ScratchDir store;
    const base::UniqueFd store_fd = store.open();

    std::string cached(const std::vector<std::string>& capabilities = {}) const {
        return cached_bpf(store_fd.get(), "default", capabilities).value();
    }
    std::vector<fs::path> files() const {
        return {fs::directory_iterator(store.path() / "filters"), fs::directory_iterator()};
    }
    std::string content() const { return base::read_file(files().at(0), 1_MiB).value(); }
    void write(const std::string& text) const { std::ofstream(files().at(0), std::ios::binary) << text; }
};

TEST_F(BpfCache, KeepsTheProgramForTheNextRun) {
    EXPECT_EQ(cached(), program);
    ASSERT_EQ(files().size(), 1U);
    const auto first = fs::last_write_time(files()[0]);
    EXPECT_EQ(cached(), program);
    EXPECT_EQ(fs::last_write_time(files()[0]), first);
    EXPECT_EQ(files().size(), 1U);
}

TEST_F(BpfCache, DamageIsNoticedAndRepaired) {
    ASSERT_EQ(cached(), program);
    const std::string good = content();
    std::string flipped = good;
    flipped[flipped.size() - 3] = static_cast<char>(flipped[flipped.size() - 3] ^ 1);
    std::string head = good;
    head[0] = 'X';
    for (const std::string& bad : {flipped, head, good.substr(0, good.size() - 8), good.substr(0, good.size() - 1),
                                   good + "12345678", std::string(), std::string(2'000'000, 'x')}) {
        write(bad);
        EXPECT_EQ(cached(), program);
        EXPECT_EQ(content(), good);
    }
}

TEST_F(BpfCache, AFileOfAnotherProfileIsNotUsed) {
    ASSERT_EQ(cached(), program);
    const fs::path mine = files()[0];
    const std::string good = content();
    ASSERT_NE(cached({"CAP_SYS_CHROOT"}), program);
    ASSERT_EQ(files().size(), 2U);
    fs::rename(files()[0] == mine ? files()[1] : files()[0], mine);
    EXPECT_EQ(cached(), program);
    EXPECT_EQ(content(), good);
}

TEST_F(BpfCache, AProfileFileIsCompiledAgainWhenItChanges) {
    const std::string path = store.path() / "mine.json";
    const auto write_profile = [&](const std::string& action) {
        std::ofstream(path) << R"({"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [{"names": ["read"], "action": ")" +
                                   action + R"("}]})";
    };
    write_profile("SCMP_ACT_ALLOW");
    const std::string allows = cached_bpf(store_fd.get(), path).value();
    write_profile("SCMP_ACT_KILL");
    EXPECT_NE(cached_bpf(store_fd.get(), path).value(), allows);
}

TEST_F(BpfCache, AProfileThatCannotBeReadIsAnErrorThatNamesIt) {
    const std::string path = store.path() / "mine.json";
    EXPECT_EQ(cached_bpf(store_fd.get(), path).error().code, ErrorCode::not_found);
    EXPECT_EQ(cached_bpf(store_fd.get(), "defautl").error().hint, "did you mean 'default'?");
    std::ofstream(path) << "{}";
    EXPECT_NE(cached_bpf(store_fd.get(), path).error().message.find(path), std::string::npos);
    EXPECT_FALSE(fs::exists(store.path() / "filters"));
}

TEST_F(BpfCache, AStoreThatCannotBeWrittenStillWorks) {
    std::ofstream(store.path() / "filters") << "a file where the folder should be";
    EXPECT_EQ(cached(), program);
    EXPECT_EQ(cached_bpf(-1, "default").value(), program);
}

TEST_F(BpfCache, UnconfinedHasNothingToLoadAndLeavesNoFile) {
    EXPECT_EQ(cached_bpf(store_fd.get(), "unconfined").value(), "");
    EXPECT_TRUE(fs::is_empty(store.path()));
}

}  // namespace
}  // namespace coracle::policy
