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
    const SeccompProfile profile = find_seccomp("default").value();
    const std::string program = compile_bpf(profile).value();
    testing::ScratchDir store;
    const base::UniqueFd store_fd = store.open();

    fs::path file() const { return store.path() / "filters" / (profile_hash(profile) + ".bpf"); }
    std::string content() const { return base::read_file(file(), 1_MiB).value(); }
    void write(const std::string& text) const { std::ofstream(file(), std::ios::binary) << text; }
    std::string cached() const { return cached_bpf(store_fd.get(), profile).value(); }
};

TEST_F(BpfCache, KeepsTheProgramForTheNextRun) {
    EXPECT_EQ(cached(), program);
    const auto first = fs::last_write_time(file());
    EXPECT_EQ(cached(), program);
    EXPECT_EQ(fs::last_write_time(file()), first);
    EXPECT_EQ(std::distance(fs::directory_iterator(file().parent_path()), fs::directory_iterator()), 1);
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
    const SeccompProfile other = find_seccomp("default", {"CAP_SYS_CHROOT"}).value();
    ASSERT_NE(profile_hash(other), profile_hash(profile));
    ASSERT_TRUE(cached_bpf(store_fd.get(), other));
    fs::rename(store.path() / "filters" / (profile_hash(other) + ".bpf"), file());
    EXPECT_EQ(cached(), program);
}

TEST_F(BpfCache, AStoreThatCannotBeWrittenStillWorks) {
    std::ofstream(store.path() / "filters") << "a file where the folder should be";
    EXPECT_EQ(cached(), program);
    EXPECT_EQ(cached_bpf(-1, profile).value(), program);
}

TEST_F(BpfCache, UnconfinedHasNothingToLoadAndLeavesNoFile) {
    EXPECT_EQ(cached_bpf(store_fd.get(), find_seccomp("unconfined").value()).value(), "");
    EXPECT_TRUE(fs::is_empty(store.path()));
}

}  // namespace
}  // namespace coracle::policy
