// Implements the packing of the messages between coracle and init.
#include "init/protocol.hpp"

#include "base/wire.hpp"

namespace coracle::init {

namespace {

using base::begin_message;
using base::read_message;
using base::WireReader;

}  // namespace

std::string pack(const Job& job) {
    auto writer = begin_message(Kind::job);
    writer.texts(job.argv).texts(job.env).text(job.cwd).text(job.seccomp).number(job.cpus.size());
    for (const unsigned cpu : job.cpus) writer.value(cpu);
    writer.texts(job.measured).value(job.cpu_seconds.has_value()).number(job.cpu_seconds.value_or(0));
    writer.value(job.count_cpu);
    return std::move(writer).take();
}

std::string pack(const Signal& signal) { return std::move(begin_message(Kind::signal).value(signal.number)).take(); }

std::string pack(const Ready&) { return begin_message(Kind::ready).take(); }

std::string pack(const Counter&) { return begin_message(Kind::counter).take(); }

std::string pack(const Started& started) {
    const Held& held = started.held;
    auto writer = begin_message(Kind::started);
    writer.value(started.at_ns).value(held.capabilities).value(held.no_new_privileges).value(held.seccomp);
    writer.texts(held.namespaces).value(held.open_files).value(held.processes).value(held.file_size);
    writer.value(held.stack).value(held.cpu).value(held.core).value(held.cpus).number(held.sizes.size());
    for (const Held::Size& size : held.sizes) writer.value(size.bytes).value(size.inodes);
    return std::move(writer).take();
}

std::string pack(const Failed& failed) {
    auto writer = begin_message(Kind::failed);
    writer.value(failed.step).value(failed.os_errno);
    return std::move(writer).take();
}

std::string pack(const Exited& exited) {
    auto writer = begin_message(Kind::exited);
    writer.value(exited.wait_status).value(exited.at_ns).value(exited.user_us).value(exited.system_us);
    writer.value(exited.switches_voluntary).value(exited.switches_involuntary);
    return std::move(writer).take();
}

std::optional<Kind> kind_of(std::string_view bytes) {
    WireReader reader(bytes);
    const Kind kind = reader.choice(Kind::exited, Kind::job);
    return reader.good() ? std::optional(kind) : std::nullopt;
}

std::optional<Job> unpack_job(std::string_view bytes) {
    return read_message<Job>(bytes, Kind::job, [](WireReader& reader, Job& job) {
        job.argv = reader.texts();
        job.env = reader.texts();
        job.cwd = reader.text();
        job.seccomp = reader.text();
        for (std::uint64_t left = reader.number(); left > 0 && reader.good(); --left) {
            job.cpus.push_back(reader.value<unsigned>());
        }
        job.measured = reader.texts();
        const bool limited = reader.value<bool>();
        const std::uint64_t seconds = reader.number();
        if (limited) job.cpu_seconds = seconds;
        job.count_cpu = reader.value<bool>();
    });
}

std::optional<Signal> unpack_signal(std::string_view bytes) {
    return read_message<Signal>(bytes, Kind::signal,
                                [](WireReader& reader, Signal& signal) { signal.number = reader.value<int>(); });
}

std::optional<Started> unpack_started(std::string_view bytes) {
    return read_message<Started>(bytes, Kind::started, [](WireReader& reader, Started& started) {
        started.at_ns = reader.value<std::int64_t>();
        started.held.capabilities = reader.value<std::uint64_t>();
        started.held.no_new_privileges = reader.value<int>();
        started.held.seccomp = reader.value<int>();
        started.held.namespaces = reader.texts();
        started.held.open_files = reader.value<std::uint64_t>();
        started.held.processes = reader.value<std::uint64_t>();
        started.held.file_size = reader.value<std::uint64_t>();
        started.held.stack = reader.value<std::uint64_t>();
        started.held.cpu = reader.value<std::uint64_t>();
        started.held.core = reader.value<std::uint64_t>();
        started.held.cpus = reader.value<std::uint64_t>();
        for (std::uint64_t left = reader.number(); left > 0 && reader.good(); --left) {
            Held::Size size;
            size.bytes = reader.value<std::uint64_t>();
            size.inodes = reader.value<std::uint64_t>();
            started.held.sizes.push_back(size);
        }
    });
}

std::optional<Failed> unpack_failed(std::string_view bytes) {
    return read_message<Failed>(bytes, Kind::failed, [](WireReader& reader, Failed& failed) {
        failed.step = reader.choice(Failed::Step::exec);
        failed.os_errno = reader.value<int>();
    });
}

std::optional<Exited> unpack_exited(std::string_view bytes) {
    return read_message<Exited>(bytes, Kind::exited, [](WireReader& reader, Exited& exited) {
        exited.wait_status = reader.value<int>();
        exited.at_ns = reader.value<std::int64_t>();
        exited.user_us = reader.value<std::int64_t>();
        exited.system_us = reader.value<std::int64_t>();
        exited.switches_voluntary = reader.value<std::uint64_t>();
        exited.switches_involuntary = reader.value<std::uint64_t>();
    });
}

}  // namespace coracle::init
