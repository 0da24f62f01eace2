// Implements the packing of the messages between coracle and the keeper.
#include "runtime/keeper_protocol.hpp"

#include "base/wire.hpp"

namespace coracle::runtime {

namespace {

using base::begin_message;
using base::read_message;
using base::WireReader;
using base::WireWriter;

void write_rootfs(WireWriter& writer, const KeeperRootfs& rootfs) {
    writer.value(rootfs.overlay).texts(rootfs.lowers).value(rootfs.user_xattr).value(rootfs.read_only);
    writer.value(rootfs.upper_bytes).text(rootfs.scratch).value(rootfs.mount_points.size());
    for (const KeeperMountPoint& point : rootfs.mount_points) {
        writer.text(point.path).value(point.mode).value(point.file).value(point.on_top);
    }
    writer.value(rootfs.generated.size());
    for (const KeeperFile& file : rootfs.generated) writer.text(file.path).text(file.content).value(file.mode);
    writer.value(rootfs.links.size());
    for (const KeeperLink& link : rootfs.links) writer.text(link.path).text(link.target);
}

KeeperRootfs read_rootfs(WireReader& reader) {
    KeeperRootfs rootfs;
    rootfs.overlay = reader.value<bool>();
    rootfs.lowers = reader.texts();
    rootfs.user_xattr = reader.value<bool>();
    rootfs.read_only = reader.value<bool>();
    rootfs.upper_bytes = reader.value<std::uint64_t>();
    rootfs.scratch = reader.text();
    for (std::uint64_t left = reader.value<std::uint64_t>(); left > 0 && reader.good(); --left) {
        KeeperMountPoint point;
        point.path = reader.text();
        point.mode = reader.value<mode_t>();
        point.file = reader.value<bool>();
        point.on_top = reader.value<bool>();
        rootfs.mount_points.push_back(std::move(point));
    }
    for (std::uint64_t left = reader.value<std::uint64_t>(); left > 0 && reader.good(); --left) {
        KeeperFile file;
        file.path = reader.text();
        file.content = reader.text();
        file.mode = reader.value<mode_t>();
        rootfs.generated.push_back(std::move(file));
    }
    for (std::uint64_t left = reader.value<std::uint64_t>(); left > 0 && reader.good(); --left) {
        KeeperLink link;
        link.path = reader.text();
        link.target = reader.text();
        rootfs.links.push_back(std::move(link));
    }
    return rootfs;
}

}  // namespace

StagePaths stage_paths(const std::string& stage) {
    return {.root = stage + "/root",
            .state = stage + "/state",
            .pid_file = stage + "/init.pid",
            .log = stage + "/runtime.log",
            .stderr_file = stage + "/runtime.stderr"};
}

std::string pack(const KeeperJob& job) {
    auto writer = begin_message(KeeperSays::job);
    writer.value(job.ids).value(job.outer_uid).value(job.outer_gid).text(job.stage);
    write_rootfs(writer, job.rootfs);
    writer.text(job.cgroup.v2_directory).texts(job.cgroup.v1_tasks).text(job.cgroup.view).texts(job.runtime_argv);
    return std::move(writer).take();
}

std::optional<KeeperJob> unpack_keeper_job(std::string_view bytes) {
    return read_message<KeeperJob>(bytes, KeeperSays::job, [](WireReader& reader, KeeperJob& job) {
        job.ids = reader.choice(KeeperIds::mapped);
        job.outer_uid = reader.value<uid_t>();
        job.outer_gid = reader.value<gid_t>();
        job.stage = reader.text();
        job.rootfs = read_rootfs(reader);
        job.cgroup.v2_directory = reader.text();
        job.cgroup.v1_tasks = reader.texts();
        job.cgroup.view = reader.text();
        job.runtime_argv = reader.texts();
    });
}

std::string pack(const KeeperCreated& created) {
    auto writer = begin_message(KeeperSays::created);
    writer.value(created.rootfs_done_ns);
    writer.value(created.created_ns);
    return std::move(writer).take();
}

std::optional<KeeperCreated> unpack_keeper_created(std::string_view bytes) {
    return read_message<KeeperCreated>(bytes, KeeperSays::created, [](WireReader& reader, KeeperCreated& created) {
        created.rootfs_done_ns = reader.value<std::int64_t>();
        created.created_ns = reader.value<std::int64_t>();
    });
}

std::string pack(const KeeperFailed& failed) {
    auto writer = begin_message(KeeperSays::failed);
    writer.value(failed.error.code).text(failed.error.message).text(failed.error.hint);
    writer.value(failed.error.stage.value_or(Stage::create));
    writer.value(failed.error.os_errno);
    writer.text(failed.runtime_log).text(failed.runtime_stderr);
    return std::move(writer).take();
}

std::optional<KeeperFailed> unpack_keeper_failed(std::string_view bytes) {
    return read_message<KeeperFailed>(bytes, KeeperSays::failed, [](WireReader& reader, KeeperFailed& failed) {
        failed.error.code = reader.choice(ErrorCode::internal);
        failed.error.message = reader.text();
        failed.error.hint = reader.text();
        failed.error.stage = reader.choice(Stage::remove);
        failed.error.os_errno = reader.value<int>();
        failed.runtime_log = reader.text();
        failed.runtime_stderr = reader.text();
    });
}

std::string pack(const KeeperOverflow& overflow) {
    auto writer = begin_message(KeeperSays::overflow);
    writer.value(overflow.bytes).value(overflow.entries);
    return std::move(writer).take();
}

std::optional<KeeperOverflow> unpack_keeper_overflow(std::string_view bytes) {
    return read_message<KeeperOverflow>(bytes, KeeperSays::overflow, [](WireReader& reader, KeeperOverflow& overflow) {
        overflow.bytes = reader.value<std::uint64_t>();
        overflow.entries = reader.value<std::uint64_t>();
    });
}

std::string pack(const KeeperExited& exited) {
    auto writer = begin_message(KeeperSays::exited);
    writer.value(exited.wait_status).value(exited.user_us);
    writer.value(exited.system_us).value(exited.max_rss);
    return std::move(writer).take();
}

std::optional<KeeperExited> unpack_keeper_exited(std::string_view bytes) {
    return read_message<KeeperExited>(bytes, KeeperSays::exited, [](WireReader& reader, KeeperExited& exited) {
        exited.wait_status = reader.value<int>();
        exited.user_us = reader.value<std::int64_t>();
        exited.system_us = reader.value<std::int64_t>();
        exited.max_rss = reader.value<std::uint64_t>();
    });
}

}  // namespace coracle::runtime
