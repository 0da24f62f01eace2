// A run's directory says that the run lives; a dead one is swept with what it left, a living one is never touched.
#include "runtime/run_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>

#include "support/test_dir.hpp"

namespace coracle::runtime {
namespace {

namespace fs = std::filesystem;
using test::must;
using test::must_fail;
using test::read_text;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class Runs : public ::testing::Test {
protected:
    RunDirectory create(const std::string& id) { return must(RunDirectory::create(runs_.path(), id, record_)); }
    // What a run that was killed leaves: everything, and the lock is free.
    void leave_dead(const std::string& id, const std::string& record = R"({"cgroup_parents": ["/cg/a", "/cg/b"]})") {
        runs_.write(id + "/lock", "");
        runs_.write(id + "/record.json", record);
        runs_.write(id + "/stage/deep/file", "");
    }
    std::vector<std::string> sweep() {
        std::vector<std::string> swept;
        sweep_runs(runs_.path(), [&](const StaleRun& run) {
            EXPECT_TRUE(fs::exists(runs_ / run.id)) << "what the record names goes before the record";
            std::string words = run.id;
            for (const auto& parent : run.cgroup_parents) words += " " + parent.string();
            swept.push_back(words);
            return true;
        });
        return swept;
    }
    void make_old(const std::string& id) {
        fs::last_write_time(runs_ / id, fs::file_time_type::clock::now() - std::chrono::minutes(1));
    }

    test::TestDir runs_;
    RunRecord record_{.cgroup_parents = {"/cg/a", "/cg/b"},
                      .image = "busybox",
                      .command = {"sh", "-c", "exit"},
                      .wall_time = std::chrono::seconds(5),
                      .pid = 7,
                      .started = 8};
};

TEST_F(Runs, HaveALockARecordAndAStage) {
    const RunDirectory run = create("r1");
    EXPECT_EQ(run.path(), runs_ / "r1");
    EXPECT_TRUE(fs::is_directory(run.stage()));
    EXPECT_TRUE(fs::exists(runs_ / "r1/lock"));
    EXPECT_EQ(read_text(runs_ / "r1/record.json"),
              R"({"cgroup_parents":["/cg/a","/cg/b"],"command":["sh","-c","exit"],"id":"r1","image":"busybox","pid":7,)"
              R"("started":8,"wall_time_ns":5000000000})"
              "\n");
    must(run.write_config("{}"));
    EXPECT_EQ(read_text(runs_ / "r1/config.json"), "{}");
    EXPECT_EQ(must_fail(run.write_config("{}")).os_errno, EEXIST);
}

TEST_F(Runs, AreNotReadableForOthers) {
    const RunDirectory run = create("r1");
    struct stat status {};
    ASSERT_EQ(::stat(run.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0066U, 0U);
}

TEST_F(Runs, GoWithTheirOwnerOrWhenTheyAreRetired) {
    { const RunDirectory run = create("dropped"); }
    must(create("retired").retire());
    EXPECT_TRUE(fs::is_empty(runs_.path()));
}

TEST_F(Runs, MoveWithTheirOwner) {
    std::optional<RunDirectory> kept;
    {
        RunDirectory run = create("r1");
        kept.emplace(std::move(run));
    }
    EXPECT_TRUE(fs::exists(kept->stage()));
    EXPECT_THAT(sweep(), IsEmpty());
}

TEST_F(Runs, ATakenNameIsAnErrorThatLeavesItsOwnerAlone) {
    const RunDirectory run = create("r1");
    const Error error = must_fail(RunDirectory::create(runs_.path(), "r1", {}));
    EXPECT_EQ(error.os_errno, EEXIST);
    EXPECT_THAT(error.message, HasSubstr("run directory"));
    EXPECT_TRUE(fs::exists(run.stage()));
    EXPECT_TRUE(fs::exists(runs_ / "r1/record.json"));
}

TEST_F(Runs, WithoutTheFolderOfRunsThereIsNone) {
    EXPECT_EQ(must_fail(RunDirectory::create(runs_ / "missing", "r1", {})).code, ErrorCode::not_found);
    EXPECT_THAT(run_ids(runs_ / "missing"), IsEmpty());
    EXPECT_FALSE(claim_if_dead(runs_ / "missing", "r1"));
    sweep_runs(runs_ / "missing", [](const StaleRun&) {
        ADD_FAILURE();
        return true;
    });
}

TEST_F(Runs, ThatAreDeadAreSweptWithWhatTheirRecordNames) {
    leave_dead("dead1");
    leave_dead("dead2");
    EXPECT_THAT(sweep(), UnorderedElementsAre("dead1 /cg/a /cg/b", "dead2 /cg/a /cg/b"));
    EXPECT_TRUE(fs::is_empty(runs_.path()));
    EXPECT_THAT(sweep(), IsEmpty());
}

TEST_F(Runs, StayWhileSomethingOfThemCannotBeRemoved) {
    leave_dead("dead");
    sweep_runs(runs_.path(), [](const StaleRun&) { return false; });
    EXPECT_TRUE(fs::exists(runs_ / "dead/record.json"));
    EXPECT_THAT(sweep(), UnorderedElementsAre("dead /cg/a /cg/b"));
}

TEST_F(Runs, ThatAreAbandonedAreLeftToASweep) {
    {
        RunDirectory run = create("stuck");
        std::move(run).abandon();
    }
    EXPECT_THAT(sweep(), UnorderedElementsAre("stuck /cg/a /cg/b"));
}

TEST_F(Runs, ThatLiveAreNeverTouched) {
    const RunDirectory alive = create("alive");
    make_old("alive");
    leave_dead("dead");
    EXPECT_FALSE(claim_if_dead(runs_.path(), "alive"));
    EXPECT_THAT(sweep(), ElementsAre("dead /cg/a /cg/b"));
    EXPECT_TRUE(fs::exists(alive.stage()));
    EXPECT_THAT(run_ids(runs_.path()), ElementsAre("alive"));
}

TEST_F(Runs, ThatAreBeingSweptAreNotSweptTwice) {
    leave_dead("dead");
    const auto doomed = claim_if_dead(runs_.path(), "dead");
    ASSERT_TRUE(doomed);
    EXPECT_EQ(doomed->run.id, "dead");
    EXPECT_FALSE(claim_if_dead(runs_.path(), "dead"));
    EXPECT_THAT(sweep(), IsEmpty());
}

TEST_F(Runs, ThatAreJustBeingMadeAreLeftAloneUntilTheyAreOld) {
    fs::create_directory(runs_ / "newborn");
    EXPECT_THAT(sweep(), IsEmpty());
    EXPECT_TRUE(fs::exists(runs_ / "newborn"));
    make_old("newborn");
    EXPECT_THAT(sweep(), ElementsAre("newborn"));
    EXPECT_FALSE(fs::exists(runs_ / "newborn"));
}

TEST_F(Runs, WithARecordThatCannotBeReadAreSweptAllTheSame) {
    for (const std::string& record : {std::string(), std::string("{"), std::string("[1]"), std::string("{}"),
                                      std::string(R"({"cgroup_parents": 7})"),
                                      std::string(R"({"cgroup_parents": [7, null]})"), std::string(2'000'000, ' ')}) {
        leave_dead("dead", record);
        EXPECT_THAT(sweep(), ElementsAre("dead"));
    }
    EXPECT_TRUE(fs::is_empty(runs_.path()));
}

TEST_F(Runs, FilesBesideThemAreNoRuns) {
    runs_.write("note", "");
    EXPECT_THAT(sweep(), IsEmpty());
    EXPECT_TRUE(fs::exists(runs_ / "note"));
}

TEST_F(Runs, ThatAreAliveAreListedWithWhatTheySayOfThemselves) {
    leave_dead("dead");
    const RunDirectory run = create("r1");
    const auto live = live_runs(runs_.path());
    ASSERT_EQ(live.size(), 1U);
    EXPECT_EQ(live[0].id, "r1");
    EXPECT_EQ(live[0].record.image, "busybox");
    EXPECT_THAT(live[0].record.command, ElementsAre("sh", "-c", "exit"));
    EXPECT_EQ(live[0].record.wall_time, Duration(std::chrono::seconds(5)));
    EXPECT_EQ(live[0].record.pid, 7);
    EXPECT_EQ(live[0].record.started, 8);
    EXPECT_THAT(live_runs(runs_ / "missing"), IsEmpty());
}

TEST_F(Runs, ListingDoesNotHoldTheLockOfTheDead) {
    leave_dead("dead");
    (void)live_runs(runs_.path());
    EXPECT_THAT(sweep(), ElementsAre("dead /cg/a /cg/b"));
}

TEST_F(Runs, TakeSignalsWhileTheyLive) {
    std::optional<RunDirectory> run = create("r1");
    EXPECT_EQ(fs::status(runs_ / "r1/control").permissions(), fs::perms::owner_read | fs::perms::owner_write)
        << "others could end the run";
    must(send_control(runs_.path(), "r1", 15));
    must(send_control(runs_.path(), "r1", 9));
    std::array<unsigned char, 4> bytes{};
    EXPECT_EQ(::read(run->control_fd(), bytes.data(), bytes.size()), 2);
    EXPECT_EQ(bytes[0], 15);
    EXPECT_EQ(bytes[1], 9);
    run.reset();
    EXPECT_EQ(must_fail(send_control(runs_.path(), "r1", 15)).code, ErrorCode::not_found);
}

TEST_F(Runs, AControlThatIsNoFifoIsNotWrittenTo) {
    const RunDirectory run = create("r1");
    fs::remove(runs_ / "r1/control");
    runs_.write("r1/control", "");
    EXPECT_EQ(must_fail(send_control(runs_.path(), "r1", 15)).code, ErrorCode::not_found);
    fs::remove(runs_ / "r1/control");
    runs_.write("target", "");
    fs::create_symlink(runs_ / "target", runs_ / "r1/control");
    must_fail(send_control(runs_.path(), "r1", 15));
    EXPECT_EQ(read_text(runs_ / "target"), "");
}

}  // namespace
}  // namespace coracle::runtime
