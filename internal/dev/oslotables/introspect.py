"""Prints, as JSON, the options that the Python distributions of this root declare.

It runs inside the root. What oslo-config-generator says of each namespace is taken as
it is; keystoneauth's plugins, which no generator lists in full, are asked directly.

Some options are declared with what the machine has, such as a limit that is the number
of its CPUs. So each distribution is asked on two machines that are not there, and what
they do not agree on is nobody's business.
"""

import ast
import importlib.metadata
import importlib.util
import json
import multiprocessing
import os
import pathlib
import re
import socket
import sys
import tempfile


# Machines that have nothing in common: CPUs, pages of memory, and the name.
MACHINES = ((1, 1 << 16, "one.example"), (997, 1 << 32, "nine.test"))


def pretend(machine):
    """Makes this process believe that it runs on a machine. There is no /proc or /sys,
    and no network: addresses and the rest are missing everywhere."""
    cpus, pages, name = machine
    asked = os.sysconf
    answers = {
        "SC_NPROCESSORS_CONF": cpus,
        "SC_NPROCESSORS_ONLN": cpus,
        "SC_PHYS_PAGES": pages,
        "SC_AVPHYS_PAGES": pages,
    }
    answers |= {os.sysconf_names[key]: value for key, value in answers.items()}
    os.sysconf = lambda key: answers[key] if key in answers else asked(key)
    os.cpu_count = os.process_cpu_count = lambda: cpus
    os.sched_getaffinity = lambda process: set(range(cpus))
    os.getloadavg = lambda: (0.0, 0.0, 0.0)
    socket.sethostname(name)  # of a namespace that only this program is in


def fold(name):
    """The spelling of a distribution's name that all its spellings share."""
    return re.sub(r"[-_.]+", "-", name).lower()


def namespaces():
    """The namespaces of each distribution that has options, without those of tests."""
    found = {}
    for entry in importlib.metadata.entry_points(group="oslo.config.opts"):
        if "tests" not in entry.value.split(":")[0]:
            found.setdefault(fold(entry.dist.name), set()).add(entry.name)
    return found


def requirements(name, seen, extras=False):
    """Everything that a distribution needs, itself included; with its own extras, but
    those for tests and documentation, and without those of what it needs."""
    if name in seen:
        return seen
    try:
        needed = importlib.metadata.requires(name) or []
    except importlib.metadata.PackageNotFoundError:
        return seen
    seen.add(name)
    for line in needed:
        extra = re.search(r"extra == ['\"]([^'\"]+)", line)
        if not extra or extras and not re.match("test|doc", extra.group(1)):
            requirements(fold(re.match(r"[A-Za-z0-9._-]+", line).group()), seen)
    return seen


def generate(namespaces, machine):
    """What `oslo-config-generator --format json` prints, and what it could not load."""
    pretend(machine)

    import oslo_concurrency.lockutils  # os-brick takes its defaults from there
    from oslo_config import generator

    # Some defaults are functions: nobody has to read them.
    json.JSONEncoder.default = lambda self, value: str(value)
    found, missing = [], {}
    for namespace in sorted(namespaces):
        with tempfile.NamedTemporaryFile("r") as output:
            args = ["--format", "json", "--output-file", output.name]
            try:
                generator.main(args + ["--namespace", namespace])
            except Exception as error:  # whatever a plugin does when it is loaded
                missing[namespace] = repr(error)
            else:
                found.append(json.load(output)["options"])
    return found, missing


def packages(name):
    """The directories of the Python packages that a distribution's namespaces are in."""
    roots = {
        entry.module.split(".")[0]
        for entry in importlib.metadata.entry_points(group="oslo.config.opts")
        if fold(entry.dist.name) == name
    }
    for root in sorted(roots):
        spec = importlib.util.find_spec(root)
        for place in spec.submodule_search_locations if spec else []:
            yield pathlib.Path(place)


def literals(call):
    """The names of options and of groups that a call in a source file may declare."""
    function = getattr(call.func, "attr", getattr(call.func, "id", ""))
    keywords = {k.arg: k.value for k in call.keywords}
    first = call.args[0] if call.args else keywords.get("name")
    option = first if function.endswith("Opt") else None
    group = first if function == "OptGroup" else keywords.get("group")
    for node in (option, group):
        literal = isinstance(node, ast.Constant) and isinstance(node.value, str)
        yield node.value if literal else None


def written(name):
    """The names of options and groups in the source, whether a namespace lists them or
    not: some are declared only when a plugin is loaded."""
    options, groups = set(), set()
    for package in packages(name):
        for path in package.rglob("*.py"):
            if "tests" in path.parts:
                continue
            for node in ast.walk(ast.parse(path.read_bytes())):
                if isinstance(node, ast.Call):
                    option, group = literals(node)
                    options.add(option)
                    groups.add(group)
    return sorted(options - {None}), sorted(groups - {None})


def plugins():
    """The options of every authentication plugin of keystoneauth, with former names."""
    from keystoneauth1 import loading

    return {
        name: {
            option.dest: sorted(old.dest for old in option.deprecated)
            for option in loading.get_plugin_options(name)
        }
        for name in loading.get_available_plugin_names()
    }


def connections():
    """The options of keystoneauth's sessions and adapters, under all their names."""
    from keystoneauth1 import loading

    found = loading.get_session_conf_options() + loading.get_adapter_conf_options()
    return sorted(
        {option.dest for option in found}
        | {old.name for option in found for old in option.deprecated_opts}
    )


def alone(function, *arguments):
    """Calls a function in a process of its own: services share global state."""
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.apply(function, arguments)


def main():
    own = namespaces()
    result = {
        "distributions": {},
        "plugins": alone(plugins),
        "connections": alone(connections),
    }
    for name in sorted(own):
        print(name, file=sys.stderr)
        found, missing = alone(generate, own[name], MACHINES[0])
        elsewhere, _ = alone(generate, own[name], MACHINES[1])
        options, groups = alone(written, name)
        result["distributions"][name] = {
            "version": importlib.metadata.version(name),
            "requires": sorted(requirements(name, set(), extras=True) & own.keys() - {name}),
            "options": found,
            "elsewhere": elsewhere,
            "missing": missing,
            "written_options": options,
            "written_groups": groups,
        }
    json.dump(result, sys.stdout, sort_keys=True, default=str)


main()
