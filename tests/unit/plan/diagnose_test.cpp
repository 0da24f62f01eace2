// Each thing that a host lacks is named with what is lost and the command that fixes it.
#include "plan/diagnose.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "support/made_up_hosts.hpp"

namespace coracle::plan {
namespace {

using ::testing::HasSubstr;

host::NamespaceSteps all_work() {
    return {.user = 0, .map = 0, .mount = 0, .pid = 0, .network = 0, .proc = 0, .overlay = 0};
}

Finding finding(const std::string& subject, const host::HostFacts& host, const host::NamespaceSteps& steps = all_work(),
                bool systemd = false) {
    const auto findings = diagnose({.host = host,
                                    .steps = steps,
                                    .runc_version = "1.1.5",
                                    .crun_version = "1.8.1",
                                    .user = "ann",
                                    .image_program = false,
                                    .systemd = systemd});
    for (const Finding& one : findings) {
        if (one.subject == subject) return one;
    }
    ADD_FAILURE() << "no finding on " << subject;
    return {};
}

TEST(Diagnose, AHostThatHasEverythingIsGood) {
    for (const char* subject : {"runtime", "namespaces", "ids", "cgroups", "overlayfs"}) {
        for (const host::HostFacts& host :
             {testing::root_on_v2(), testing::root_on_v1(), testing::user_with_delegation()}) {
            const Finding one = finding(subject, host);
            EXPECT_EQ(one.health, Health::good) << subject << ": " << one.detail;
            EXPECT_EQ(one.fix, "");
        }
    }
}

TEST(Diagnose, AMissingRuntimeIsBadAndHasItsPackage) {
    host::HostFacts host = testing::root_on_v2();
    host.runc.reset();
    EXPECT_EQ(finding("runtime", host).health, Health::weak) << "crun is there";
    host.crun.reset();
    EXPECT_EQ(finding("runtime", host).health, Health::bad);
    EXPECT_EQ(finding("runtime", host).fix, "apt-get install runc");
}

TEST(Diagnose, TheStepThatFailsTellsWhoForbidsIt) {
    const struct {
        host::NamespaceSteps steps;
        const char* detail;
        const char* fix;
    } table[]{
        {{.user = EPERM}, "user namespace is refused", "unprivileged_userns_clone=1"},
        {{.user = ENOSPC}, "user namespace is refused", "max_user_namespaces"},
        {{.user = 0, .map = EPERM}, "security module", "apparmor"},
        {{.user = 0, .map = 0, .mount = EACCES}, "security module", "apparmor"},
        {{.user = 0, .map = 0, .mount = 0, .pid = 0, .network = 0, .proc = EPERM}, "masked", "systempaths=unconfined"},
        {{}, "could not be tried", ""},
    };
    for (const auto& [steps, detail, fix] : table) {
        const Finding one = finding("namespaces", testing::bare_user(), steps);
        EXPECT_EQ(one.health, Health::bad);
        EXPECT_THAT(one.detail, HasSubstr(detail));
        EXPECT_THAT(one.fix, HasSubstr(fix));
    }
}

TEST(Diagnose, AnAccountWithoutSubordinateIdsIsToldHowToGetThem) {
    const Finding one = finding("ids", testing::bare_user());
    EXPECT_EQ(one.health, Health::weak);
    EXPECT_THAT(one.fix, HasSubstr("usermod --add-subuids 100000-165535 --add-subgids 100000-165535 ann"));
}

TEST(Diagnose, ControllersThatAreMissingAreNamedWithTheWayToThem) {
    const Finding none = finding("cgroups", testing::bare_user());
    EXPECT_EQ(none.health, Health::weak);
    EXPECT_THAT(none.detail, HasSubstr("cpu, memory, pids"));
    host::HostFacts part = testing::user_with_delegation();
    std::erase(part.cgroup_v2->controllers, "cpu");
    EXPECT_THAT(finding("cgroups", part).detail, ::testing::EndsWith(": cpu"));
    EXPECT_THAT(finding("cgroups", part, all_work(), true).fix, HasSubstr("systemd-run --user"));
    EXPECT_THAT(finding("cgroups", part).fix, HasSubstr("chown -R ann"));
}

TEST(Diagnose, LimitsThatGoThroughTheUsersServiceManagerAreGoodUnlessItRefused) {
    host::HostFacts host = testing::user_in_a_session();
    const Finding good = finding("cgroups", host);
    EXPECT_EQ(good.health, Health::good);
    EXPECT_EQ(good.detail, "cgroup v2 through the user's service manager with cpu, memory, pids");
    host.user_manager->refusal = "Access denied";
    const Finding weak = finding("cgroups", host);
    EXPECT_EQ(weak.health, Health::weak);
    EXPECT_THAT(weak.detail, ::testing::AllOf(HasSubstr("cpu, memory, pids"), HasSubstr("Access denied")));
}

TEST(Diagnose, WithoutOverlayfsSandboxesStillRun) {
    host::NamespaceSteps steps = all_work();
    steps.overlay = ENODEV;
    const Finding one = finding("overlayfs", testing::root_on_v2(), steps);
    EXPECT_EQ(one.health, Health::weak);
    EXPECT_EQ(one.fix, "modprobe overlay");
}

TEST(Diagnose, WithoutCoracleImageThereIsNoPull) {
    EXPECT_THAT(finding("coracle-image", testing::root_on_v2()).lost, HasSubstr("coracle pull"));
}

}  // namespace
}  // namespace coracle::plan
