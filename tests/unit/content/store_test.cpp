// The store's promises: whole or not at all, verified, readable by others, clean after a kill.
#include "content/store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "content/paths.hpp"
#include "support/test_dir.hpp"

namespace coracle::content {
namespace {

using test::must;
using test::must_fail;
using test::TestDir;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> entries(const std::filesystem::path& dir) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(dir)) {
        if (entry.path().filename() != ".sweep") names.push_back(entry.path().filename().string());
    }
    return names;
}

oci::Descriptor described(const BlobInfo& blob) {
    return {.media_type = "application/vnd.oci.image.manifest.v1+json",
            .digest = blob.digest,
            .size = blob.size,
            .platform = {},
            .ref_name = {},
            .full_name = {}};
}

TEST(Store, IsAnOciImageLayout) {
    const TestDir dir;
    const Store store = must(Store::open(dir / "deep/store"));
    EXPECT_EQ(test::read_text(store.root() / "oci-layout"), "{\"imageLayoutVersion\": \"1.0.0\"}\n");
    EXPECT_TRUE(std::filesystem::is_directory(store.root() / "blobs/sha256"));
    EXPECT_THAT(must(store.tags()), IsEmpty());
}

TEST(Store, KeepsUnpackedImagesOutOfOtherUsersReach) {
    const TestDir dir;
    const Store store = must(Store::open(dir / "store"));
    EXPECT_EQ(std::filesystem::status(store.root() / "layers").permissions(), std::filesystem::perms::owner_all);
}

TEST(Store, GivesBackWhatWasWritten) {
    const TestDir dir;
    const Store store = must(Store::open(dir / "store"));
    const BlobInfo blob = must(store.write_blob("hello"));
    EXPECT_EQ(blob.digest.str(), "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
    EXPECT_EQ(must(store.read_blob(blob.digest, 5)), "hello");
    EXPECT_TRUE(store.has(blob.digest, 5));
    EXPECT_FALSE(store.has(blob.digest, 6));
    EXPECT_THAT(entries(store.root() / "tmp"), IsEmpty());
}

TEST(Store, RefusesABlobThatWasChangedOnDisk) {
    const TestDir dir;
    const Store store = must(Store::open(dir / "store"));
    const BlobInfo blob = must(store.write_blob("hello"));
    std::ofstream(store.root() / paths::blob(blob.digest)) << "hellO";
    EXPECT_EQ(must_fail(store.read_blob(blob.digest, 5)).code, ErrorCode::corrupt);
    EXPECT_THAT(must_fail(store.open_blob(blob.digest, 4)).message, HasSubstr("its descriptor says 4"));
}

TEST(BlobWriter, PublishesNothingThatIsNotWhatWasPromised) {
    const TestDir dir;
    const Store store = must(Store::open(dir / "store"));
    const oci::Digest hello = must(digest_of("hello"));
    BlobWriter other = must(store.new_blob());
    ASSERT_TRUE(other.write("other"));
    EXPECT_THAT(must_fail(std::move(other).commit_as(hello, 5)).message, HasSubstr(hello.str()));
    BlobWriter shorter = must(store.new_blob());
    ASSERT_TRUE(shorter.write("hell"));
    EXPECT_THAT(must_fail(std::move(shorter).commit_as(hello, 5)).message, HasSubstr("4 bytes came"));
    EXPECT_FALSE(store.has(hello, 5));
}

TEST(BlobWriter, TakesSha512) {
    const TestDir dir;
    const Store store = must(Store::open(dir / "store"));
    BlobWriter writer = must(store.new_blob("sha512"));
    ASSERT_TRUE(writer.write("hello"));
    const oci::Digest digest = must(digest_of("hello", "sha512"));
    EXPECT_TRUE(std::move(writer).commit_as(digest, 5));
    EXPECT_EQ(must(store.read_blob(digest, 5)), "hello");
}

TEST(BlobWriter, LetsManyWriteTheSameBlobAtOnce) {
    const TestDir dir;
    const Store store = must(Store::open(dir / "store"));
    std::vector<std::thread> writers;
    for (int n = 0; n < 8; ++n) writers.emplace_back([&] { EXPECT_TRUE(store.write_blob("same")); });
    for (std::thread& writer : writers) writer.join();
    EXPECT_EQ(entries(store.root() / "blobs/sha256").size(), 1U);
}

TEST(Store, MovesATagToTheNewManifest) {
    const TestDir dir;
    const Store store = must(Store::open(dir / "store"));
    const BlobInfo old = must(store.write_blob("old"));
    const BlobInfo fresh = must(store.write_blob("new"));
    ASSERT_TRUE(store.tag("a:latest", described(old)));
    ASSERT_TRUE(store.tag("b:latest", described(old)));
    ASSERT_TRUE(store.tag("a:latest", described(fresh)));
    const auto tags = must(store.tags());
    ASSERT_EQ(tags.size(), 2U);
    EXPECT_EQ(tags[0].ref_name, "b:latest");
    EXPECT_EQ(tags[1].digest, fresh.digest);
}

TEST(Store, LosesNoTagOfManyTaggers) {
    const TestDir dir;
    const Store store = must(Store::open(dir / "store"));
    const BlobInfo blob = must(store.write_blob("m"));
    std::vector<std::thread> taggers;
    for (int n = 0; n < 8; ++n) {
        taggers.emplace_back([&, n] { EXPECT_TRUE(store.tag("t" + std::to_string(n), described(blob))); });
    }
    for (std::thread& tagger : taggers) tagger.join();
    EXPECT_EQ(must(store.tags()).size(), 8U);
}

TEST(Store, SweepsWhatAKilledWriterLeftAndNothingOfALivingOne) {
    const TestDir dir;
    const Store store = must(Store::open(dir / "store"));
    const Scratch alive = must(store.new_scratch());
    const pid_t child = ::fork();
    if (child == 0) {
        auto writer = store.new_blob();
        if (writer) (void)writer->write("half");
        ::kill(::getpid(), SIGKILL);
    }
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    EXPECT_EQ(entries(store.root() / "tmp").size(), 4U);  // two folders, two locks
    const Store again = must(Store::open(store.root()));
    EXPECT_EQ(entries(store.root() / "tmp").size(), 2U);
    EXPECT_TRUE(std::filesystem::exists(store.root() / paths::scratch(alive.name())));
}

TEST(Store, SaysWhereItCannotBeMade) {
    const TestDir dir;
    dir.write("file", "");
    const auto error = must_fail(Store::open(dir / "file/store"));
    EXPECT_THAT(error.message, HasSubstr("file/store"));
    EXPECT_THAT(error.hint, HasSubstr("--store"));
}

TEST(Store, FailsCleanlyOnAFullDisk) {
    const TestDir dir;
    const Store store = must(Store::open(dir / "store"));
    // A limit on the file size stands in for the disk: write(2) fails half-way in both cases.
    const pid_t child = ::fork();
    if (child == 0) {
        ::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{4096, 4096};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        const auto written = store.write_blob(std::string(10'000, 'x'));
        ::_exit(!written && written.error().message.find("write 'blob'") == 0 ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_THAT(entries(store.root() / "tmp"), IsEmpty());
    EXPECT_THAT(entries(store.root() / "blobs/sha256"), IsEmpty());
}

}  // namespace
}  // namespace coracle::content
