// A config.json says what the plan says, and its two forms differ in the listed places and nowhere else.
#include "runtime_config/runtime_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <set>
#include <sstream>

#include "support/golden_plans.hpp"

namespace coracle::runtime_config {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

const FastForm fast_form{.root_path = "/run/coracle/r1/rootfs", .init_args = {"/.coracle-init"}};

json portable(const plan::ExecutionPlan& plan) {
    return json::parse(portable_config(plan, policy::find_seccomp("default").value()).value());
}

json fast(const plan::ExecutionPlan& plan) { return json::parse(fast_config(plan, fast_form).value()); }

// The places in which the documents differ, as JSON pointers; an added or removed member counts as itself.
std::set<std::string> differences(const json& a, const json& b) {
    std::set<std::string> places;
    for (const json& step : json::diff(a, b)) {
        const std::string path = step.at("path");
        // Down to the member of the member: "/process/args/0" is a difference of "/process/args".
        const std::size_t second = path.find('/', 1);
        places.insert(second == std::string::npos ? path : path.substr(0, path.find('/', second + 1)));
    }
    return places;
}

std::vector<std::string> namespace_types(const json& config) {
    std::vector<std::string> types;
    for (const json& entry : config["linux"]["namespaces"]) types.push_back(entry["type"]);
    return types;
}

TEST(TwoForms, DifferExactlyInWhatTheKeeperAndInitDoThemselves) {
    const std::set<std::string> always{"/process/args", "/process/env", "/process/cwd", "/root/path", "/linux/seccomp"};
    for (const plan::ExecutionPlan& plan : {testing::default_root_v1_plan(), testing::default_root_v2_plan()}) {
        std::set<std::string> listed = always;
        listed.insert("/linux/resources");
        EXPECT_EQ(differences(portable(plan), fast(plan)), listed);
    }
}

TEST(TwoForms, DifferRootlessInTheUserNamespaceTooWhichTheKeeperHasMade) {
    const std::set<std::string> rootless{"/process/args",     "/process/env",       "/process/cwd",
                                         "/root/path",        "/linux/seccomp",     "/linux/resources",
                                         "/linux/namespaces", "/linux/uidMappings", "/linux/gidMappings"};
    EXPECT_EQ(differences(portable(testing::default_rootless_v2_plan()), fast(testing::default_rootless_v2_plan())),
              rootless);
}

TEST(FastForm, NamesAPlaceForTheCgroupOfARuntimeThatManagesItself) {
    FastForm form = fast_form;
    form.cgroups_path = "/coracle-r1/container";
    const json config = json::parse(fast_config(testing::default_root_v2_plan(), form).value());
    EXPECT_EQ(config["linux"]["cgroupsPath"], "/coracle-r1/container");
    EXPECT_FALSE(config["linux"].contains("resources"));
    EXPECT_FALSE(fast(testing::default_root_v2_plan())["linux"].contains("cgroupsPath"));
}

TEST(FastForm, LeavesTheLimitOfProcessorTimeToInit) {
    plan::ExecutionPlan plan = testing::default_root_v2_plan();
    plan.process.rlimits = {{"RLIMIT_CPU", 1, 2}, {"RLIMIT_FSIZE", 1, 2}};
    EXPECT_EQ(fast(plan)["process"]["rlimits"], json::parse(R"([{"type": "RLIMIT_FSIZE", "soft": 1, "hard": 2}])"));
    EXPECT_EQ(portable(plan)["process"]["rlimits"].size(), 2U) << "there is no init in a bundle for others";
}

TEST(FastForm, StartsTheShimInTheMountedRoot) {
    const json config = fast(testing::default_root_v2_plan());
    EXPECT_EQ(config["process"]["args"], json({"/.coracle-init"}));
    EXPECT_EQ(config["process"]["cwd"], "/");
    EXPECT_EQ(config["process"]["terminal"], false);
    EXPECT_EQ(config["root"], json({{"path", "/run/coracle/r1/rootfs"}, {"readonly", true}}));
    EXPECT_EQ(fast_config(testing::default_root_v2_plan(), fast_form).value().find('\n'), std::string::npos);
}

TEST(FastForm, HasAUserNamespaceOnlyWhereOneIsNested) {
    EXPECT_THAT(namespace_types(fast(testing::default_rootless_v2_plan())),
                ElementsAre("pid", "mount", "ipc", "uts", "network", "cgroup"));
    const json single = fast(testing::default_rootless_single_plan());
    EXPECT_THAT(namespace_types(single), ElementsAre("pid", "mount", "ipc", "uts", "network", "user"));
    EXPECT_EQ(single["linux"]["uidMappings"], json::parse(R"([{"containerID": 0, "hostID": 0, "size": 1}])"));
    plan::ExecutionPlan nested = testing::default_rootless_v2_plan();
    nested.namespaces.nested_user = true;
    EXPECT_EQ(
        fast(nested)["linux"]["uidMappings"],
        json::parse(R"([{"containerID": 0, "hostID": 0, "size": 1}, {"containerID": 1, "hostID": 1, "size": 65536}])"));
}

TEST(PortableForm, MapsToTheHostsIdsWhereThePlanIsRootless) {
    const json config = portable(testing::default_rootless_v2_plan());
    EXPECT_EQ(
        config["linux"]["gidMappings"],
        json::parse(
            R"([{"containerID": 0, "hostID": 1000, "size": 1}, {"containerID": 1, "hostID": 100000, "size": 65536}])"));
    EXPECT_FALSE(portable(testing::default_root_v2_plan())["linux"].contains("uidMappings"));
}

TEST(PortableForm, RootWithANestedUserNamespaceMapsEveryIdToItself) {
    plan::ExecutionPlan plan = testing::default_root_v1_plan();
    plan.namespaces.nested_user = true;
    EXPECT_EQ(portable(plan)["linux"]["uidMappings"],
              json::parse(R"([{"containerID": 0, "hostID": 0, "size": 65536}])"));
    EXPECT_EQ(portable(plan)["linux"]["uidMappings"], fast(plan)["linux"]["uidMappings"]);
}

TEST(PortableForm, ClosesSwapAndSharesOutTheCpu) {
    plan::ExecutionPlan plan = testing::default_root_v2_plan();
    plan.cgroup.cpus = Cpus{1500};
    const json resources = portable(plan)["linux"]["resources"];
    EXPECT_EQ(resources["memory"], json({{"limit", 536870912}, {"swap", 536870912}}));
    EXPECT_EQ(resources["cpu"], json({{"quota", 150000}, {"period", 100000}}));
    EXPECT_EQ(resources["pids"], json({{"limit", 256}}));
    EXPECT_EQ(resources["devices"], json::parse(R"([{"allow": false, "access": "rwm"}])"));
}

TEST(PortableForm, LimitsNothingThatThePlanDoesNot) {
    EXPECT_FALSE(portable(testing::default_rootless_single_plan())["linux"].contains("resources"));
    plan::ExecutionPlan plan = testing::default_rootless_v2_plan();
    plan.cgroup.cpus.reset();
    plan.cgroup.memory.reset();
    EXPECT_EQ(portable(plan)["linux"]["resources"], json::parse(R"({"pids": {"limit": 256}})"));
}

TEST(PortableForm, HasNoCapabilityInAnySetUnlessThePlanNamesIt) {
    const json none = portable(testing::default_root_v2_plan())["process"]["capabilities"];
    EXPECT_EQ(none.size(), 5U);
    for (const json& set : none) EXPECT_THAT(set, IsEmpty());
    plan::ExecutionPlan plan = testing::default_root_v2_plan();
    plan.process.capabilities = {"CAP_CHOWN"};
    const json one = portable(plan)["process"]["capabilities"];
    for (const json& set : one) EXPECT_EQ(set, json({"CAP_CHOWN"}));
}

TEST(PortableForm, WritesTheIdentityAndTheRlimits) {
    plan::ExecutionPlan plan = testing::default_root_v2_plan();
    plan.process.user = {.uid = 1000, .gid = 50, .additional_gids = {7, 8}};
    plan.process.rlimits = {{"RLIMIT_FSIZE", 1, 2}};
    const json process = portable(plan)["process"];
    EXPECT_EQ(process["user"], json::parse(R"({"uid": 1000, "gid": 50, "additionalGids": [7, 8]})"));
    EXPECT_EQ(process["rlimits"], json::parse(R"([{"type": "RLIMIT_FSIZE", "soft": 1, "hard": 2}])"));
    EXPECT_EQ(process["noNewPrivileges"], true);
}

TEST(PortableForm, SharesTheHostsNetworkOnlyWhereThePlanSaysSo) {
    plan::ExecutionPlan plan = testing::default_root_v1_plan();
    plan.namespaces.network = false;
    EXPECT_THAT(namespace_types(portable(plan)), ElementsAre("pid", "mount", "ipc", "uts"));
}

TEST(PortableForm, UnconfinedHasNoSeccompAtAll) {
    const auto text = portable_config(testing::default_root_v2_plan(), policy::find_seccomp("unconfined").value());
    EXPECT_FALSE(json::parse(text.value())["linux"].contains("seccomp"));
}

TEST(PortableForm, ItsSeccompIsTheProfileThatTheFilterIsCompiledFrom) {
    const json config = portable(testing::default_root_v2_plan());
    EXPECT_EQ(policy::parse_seccomp(config["linux"]["seccomp"].dump()).value(),
              policy::find_seccomp("default").value());
}

TEST(PortableForm, IsTextForReadersThatEndsItsLastLine) {
    const std::string text =
        portable_config(testing::default_root_v2_plan(), policy::find_seccomp("default").value()).value();
    EXPECT_EQ(text.back(), '\n');
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120U) << line;
}

TEST(PortableForm, PrintsAPathThatIsLongerThanALineWhole) {
    plan::ExecutionPlan plan = testing::default_root_v2_plan();
    plan.process.args = {"sh", std::string(300, 'x'), "quote\"\n"};
    EXPECT_EQ(portable(plan)["process"]["args"], json(plan.process.args));
}

TEST(BothForms, RefuseATextThatIsNotUtf8InsteadOfChangingIt) {
    plan::ExecutionPlan plan = testing::default_root_v2_plan();
    plan.mounts.push_back({"/data", "bind", "/srv/\xff", {"bind", "ro"}});
    for (const auto& text : {portable_config(plan, {}), fast_config(plan, fast_form)}) {
        ASSERT_FALSE(text);
        EXPECT_EQ(text.error().code, ErrorCode::invalid_request);
    }
}

TEST(RuntimeConfig, AMountOnTheScratchHasItsSourceThere) {
    plan::ExecutionPlan plan = testing::default_root_v2_plan();
    plan.mounts = {
        {.destination = "/workspace", .type = "bind", .source = {}, .options = {"rbind"}, .on_scratch = true}};
    FastForm form = fast_form;
    form.scratch_path = "/store/tmp/a";
    const json config = json::parse(fast_config(plan, form).value());
    EXPECT_EQ(config["mounts"][0]["source"], "/store/tmp/a/workspace");
}

}  // namespace
}  // namespace coracle::runtime_config
