// Profiles are read as they are meant, in either form, and what cannot be meant is refused with its place.
#include "policy/seccomp.hpp"

#include <gtest/gtest.h>
#include <seccomp.h>

#include <cerrno>
#include <fstream>

#include "policy/bpf.hpp"
#include "support/bpf_machine.hpp"
#include "support/scratch_dir.hpp"

namespace coracle::policy {
namespace {

using testing::answer_of;
using testing::native_call;

std::string compiled(std::string_view text, const std::vector<std::string>& capabilities = {}) {
    return compile_bpf(parse_seccomp(text, capabilities).value()).value();
}

std::string grouped(const std::string& groups) {
    return R"({"format": "coracle-seccomp-1", "otherwise": "ENOSYS", "groups": [)" + groups + "]}";
}

TEST(GroupedProfile, TheLastGroupThatNamesACallDecidesIt) {
    const std::string program = compiled(grouped(R"({"answer": "allow", "names": ["read", "write", "mount"]},
                                                    {"answer": "EPERM", "names": ["mount"]},
                                                    {"answer": "kill_process", "names": ["reboot"]})"));
    EXPECT_EQ(answer_of(program, native_call("read")), "allow");
    EXPECT_EQ(answer_of(program, native_call("mount")), "errno 1");
    EXPECT_EQ(answer_of(program, native_call("reboot")), "kill_process");
    EXPECT_EQ(answer_of(program, native_call("openat")), "errno 38");
}

TEST(GroupedProfile, ABaseIsChangedCallByCall) {
    const std::string program = compiled(R"({"format": "coracle-seccomp-1", "base": "default", "groups": [
        {"answer": "allow", "names": ["io_uring_setup"]}, {"answer": "EACCES", "names": ["socket"]}]})");
    EXPECT_EQ(answer_of(program, native_call("io_uring_setup")), "allow");
    EXPECT_EQ(answer_of(program, native_call("socket", {1})), "errno " + std::to_string(EACCES));
    EXPECT_EQ(answer_of(program, native_call("read")), "allow");
    EXPECT_EQ(answer_of(program, native_call("mount")), "errno 1");
}

TEST(GroupedProfile, AConditionWithoutElseLeavesTheRestToTheDefault) {
    const std::string program = compiled(grouped(R"({"names": ["socket"], "answer": "allow",
                                                     "argument": {"index": 0, "in": {"AF_UNIX": 1}}})"));
    EXPECT_EQ(answer_of(program, native_call("socket", {1})), "allow");
    EXPECT_EQ(answer_of(program, native_call("socket", {2})), "errno 38");
}

struct Refusal {
    std::string text;
    std::string place;  // in the message
};

void expect_refused(const Refusal& refusal) {
    const auto profile = parse_seccomp(refusal.text);
    ASSERT_FALSE(profile) << refusal.text;
    EXPECT_EQ(profile.error().code, ErrorCode::invalid_request);
    EXPECT_NE(profile.error().message.find(refusal.place), std::string::npos) << profile.error().message;
}

TEST(GroupedProfile, RefusesWhatItDoesNotUnderstandAndSaysWhere) {
    const std::vector<Refusal> refusals{
        {"", "not valid JSON"},
        {"[]", "not a JSON object"},
        {"{}", "neither 'format'"},
        {R"({"format": "coracle-seccomp-2", "otherwise": "EPERM"})", "format"},
        {R"({"format": "coracle-seccomp-1"})", "'otherwise' is missing"},
        {R"({"format": "coracle-seccomp-1", "otherwise": "EPERM", "group": []})", "unknown key 'group'"},
        {R"({"format": "coracle-seccomp-1", "base": "defualt"})", "'defualt'"},
        {grouped(R"({"answer": "allow"})"), "groups[0]: 'names' is missing"},
        {grouped(R"({"answer": "allow", "names": []})"), "groups[0].names"},
        {grouped(R"({"answer": "allow", "names": ["re ad"]})"), "'re ad'"},
        {grouped(R"({"answer": "allow", "names": [1]})"), "groups[0].names[0]: not a string"},
        {grouped(R"({"answer": "alow", "names": ["read"]})"), "unknown answer 'alow'"},
        {grouped(R"({"names": ["read"]})"), "'answer' is missing"},
        {grouped(R"({"answer": "allow", "else": "EPERM", "names": ["read"]})"), "only together with 'argument'"},
        {grouped(R"({"answer": "allow", "names": ["read"], "argument": {"index": 6, "in": {"a": 1}}})"), "index"},
        {grouped(R"({"answer": "allow", "names": ["read"], "argument": {"index": 0}})"), "exactly one of"},
        {grouped(R"({"answer": "allow", "names": ["read"], "argument": {"index": 0, "in": {"a": -1}}})"), "in.a"},
        {grouped(R"({"answer": "allow", "names": ["read"], "argument": {"index": 0, "in": {"a": "0xg"}}})"), "in.a"},
        {grouped(R"({"answer": "allow", "names": ["read"], "with_capability": "CAP_NO"})"), "with_capability"},
        {std::string(2'000'000, ' '), "larger than"},
    };
    for (const Refusal& refusal : refusals) expect_refused(refusal);
}

TEST(GroupedProfile, ATypoIsAnsweredWithTheWordThatWasMeant) {
    EXPECT_EQ(parse_seccomp(grouped(R"({"answer": "alow", "names": ["read"]})")).error().hint, "did you mean 'allow'?");
    EXPECT_EQ(parse_seccomp(R"({"format": "coracle-seccomp-1", "base": "defualt"})").error().hint,
              "did you mean 'default'?");
}

TEST(OciProfile, DockersConditionsOnCapabilitiesAndArchitecturesHold) {
    constexpr std::string_view text = R"({"defaultAction": "SCMP_ACT_ERRNO", "defaultErrnoRet": 38,
        "archMap": [{"architecture": "SCMP_ARCH_X86_64", "subArchitectures": ["SCMP_ARCH_X86", "SCMP_ARCH_X32"]}],
        "syscalls": [
          {"names": ["read", "chown32", "of_the_future"], "action": "SCMP_ACT_ALLOW", "args": null, "comment": "x"},
          {"name": "write", "action": "SCMP_ACT_ALLOW"},
          {"names": ["mount"], "action": "SCMP_ACT_ALLOW", "includes": {"caps": ["CAP_SYS_ADMIN"]}},
          {"names": ["clone"], "action": "SCMP_ACT_ALLOW", "excludes": {"caps": ["CAP_SYS_ADMIN"], "arches": ["s390x"]},
           "args": [{"index": 0, "value": 2114060288, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ"}]},
          {"names": ["sync_file_range"], "action": "SCMP_ACT_ALLOW", "includes": {"arches": ["ppc64le"]}},
          {"names": ["ptrace"], "action": "SCMP_ACT_ALLOW", "includes": {"minKernel": "4.8"}},
          {"names": ["bpf"], "action": "SCMP_ACT_ALLOW", "includes": {"minKernel": "999.0"}},
          {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": 22}]})";
    const std::string program = compiled(text);
    EXPECT_EQ(answer_of(program, native_call("read")), "allow");
    EXPECT_EQ(answer_of(program, native_call("write")), "allow");
    EXPECT_EQ(answer_of(program, native_call("mount")), "errno 38");
    EXPECT_EQ(answer_of(program, native_call("clone", {SIGCHLD})), "allow");
    EXPECT_EQ(answer_of(program, native_call("clone", {0x10000000})), "errno 38");
    EXPECT_EQ(answer_of(program, native_call("sync_file_range")), "errno 38");
    EXPECT_EQ(answer_of(program, native_call("ptrace")), "allow");
    EXPECT_EQ(answer_of(program, native_call("bpf")), "errno 38");
    EXPECT_EQ(answer_of(program, native_call("clone3")), "errno 22");
    const std::string admin = compiled(text, {"CAP_SYS_ADMIN"});
    EXPECT_EQ(answer_of(admin, native_call("mount")), "allow");
    EXPECT_EQ(answer_of(admin, native_call("clone", {SIGCHLD})), "errno 38");
}

TEST(OciProfile, AnErrnoThatIsNotNamedIsEperm) {
    EXPECT_EQ(parse_seccomp(R"({"defaultAction": "SCMP_ACT_ERRNO"})").value().default_action,
              (SeccompAction{SeccompVerdict::fail, EPERM}));
}

TEST(OciProfile, TwoTestsOfOneArgumentAreAlternativesAsInRunc) {
    const auto profile = parse_seccomp(R"({"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [
        {"names": ["personality"], "action": "SCMP_ACT_ALLOW", "args": [
          {"index": 0, "value": 0, "op": "SCMP_CMP_EQ"}, {"index": 0, "value": 8, "op": "SCMP_CMP_EQ"}]}]})");
    ASSERT_TRUE(profile);
    const std::string program = compile_bpf(profile.value()).value();
    EXPECT_EQ(answer_of(program, native_call("personality", {0})), "allow");
    EXPECT_EQ(answer_of(program, native_call("personality", {8})), "allow");
    EXPECT_EQ(answer_of(program, native_call("personality", {9})), "errno 1");
}

TEST(OciProfile, RefusesWhatItCannotEnforceAndSaysWhere) {
    const std::vector<Refusal> refusals{
        {R"({"defaultAction": "SCMP_ACT_ALOW"})", "defaultAction: unknown action"},
        {R"({"defaultAction": "SCMP_ACT_NOTIFY"})", "needs a supervisor"},
        {R"({"defaultAction": "SCMP_ACT_ERRNO", "defaultErrnoRet": 5000})", "defaultErrnoRet"},
        {R"({"defaultAction": "SCMP_ACT_ERRNO", "listenerPath": "/x"})", "listenerPath"},
        {R"({"defaultAction": "SCMP_ACT_ERRNO", "architectures": ["SCMP_ARCH_MIPS"]})", "is missing"},
        {R"({"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [{"action": "SCMP_ACT_ALLOW"}]})",
         "syscalls[0]: names no call"},
        {R"({"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [{"names": ["read"], "action": "SCMP_ACT_ALLOW",
            "args": [{"index": 9, "value": 0, "op": "SCMP_CMP_EQ"}]}]})",
         "syscalls[0].args[0].index"},
        {R"({"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [{"names": ["read"], "action": "SCMP_ACT_ALLOW",
            "args": [{"index": 0, "value": 0, "op": "SCMP_CMP_QE"}]}]})",
         "unknown comparison"},
        {R"({"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [{"names": ["read"], "action": "SCMP_ACT_ALLOW",
            "includes": {"caps": ["CAP_NONE"]}}]})",
         "includes.caps"},
    };
    for (const Refusal& refusal : refusals) expect_refused(refusal);
}

TEST(CompileBpf, ADenialOfACallThatIsUnknownIsAnErrorNotAHole) {
    const auto profile = parse_seccomp(R"({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [
        {"names": ["of_the_future"], "action": "SCMP_ACT_ERRNO"}]})");
    const auto program = compile_bpf(profile.value());
    ASSERT_FALSE(program);
    EXPECT_NE(program.error().message.find("'of_the_future'"), std::string::npos);
    EXPECT_NE(program.error().hint, "");
}

TEST(CompileBpf, AProfileThatIsTooLargeForTheKernelIsRefused) {
    SeccompProfile profile{{SeccompVerdict::fail, ENOSYS}, {}};
    for (std::uint64_t i = 0; i < 1200; ++i) {
        const ArgumentTest second{1, Comparison::equal, i * 7, 0};
        const ArgumentTest third{2, Comparison::equal, i * 5, 0};
        profile.rules.push_back({{"ioctl"}, {SeccompVerdict::allow, 0}, {second, third}});
    }
    const auto program = compile_bpf(profile);
    ASSERT_FALSE(program);
    EXPECT_EQ(program.error().code, ErrorCode::invalid_request);
}

TEST(FindSeccomp, KnowsItsProfilesByName) {
    EXPECT_TRUE(find_seccomp("default").value().confines());
    EXPECT_FALSE(find_seccomp("unconfined").value().confines());
    const auto typo = find_seccomp("unconfind");
    ASSERT_FALSE(typo);
    EXPECT_EQ(typo.error().code, ErrorCode::not_found);
    EXPECT_EQ(typo.error().hint, "did you mean 'unconfined'?");
    EXPECT_NE(find_seccomp("profile.json").error().hint.find("./profile.json"), std::string::npos);
}

TEST(FindSeccomp, ReadsAFileAndNamesItInItsErrors) {
    const testing::ScratchDir dir;
    const std::string path = dir.path() / "mine.json";
    EXPECT_EQ(find_seccomp(path).error().code, ErrorCode::not_found);
    std::ofstream(path) << grouped(R"({"answer": "allow", "names": ["read"]})");
    EXPECT_EQ(find_seccomp(path).value().rules.size(), 1U);
    std::ofstream(path) << "{";
    EXPECT_NE(find_seccomp(path).error().message.find(path), std::string::npos);
}

TEST(FindSeccomp, DebiansProfileOfPodmanAndDockerIsReadWhereInstalled) {
    const std::string path = "/usr/share/containers/seccomp.json";
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "golang-github-containers-common is not installed";
    const std::string program = compile_bpf(find_seccomp(path).value()).value();
    EXPECT_EQ(answer_of(program, native_call("openat")), "allow");
    EXPECT_EQ(answer_of(program, native_call("kexec_load")), "errno 1");
    EXPECT_EQ(answer_of(program, native_call("socket", {38})), "allow");
}

}  // namespace
}  // namespace coracle::policy
