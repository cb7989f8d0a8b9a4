// Package options knows the options that OpenStack's services read from their config files, in
// each release. It warns about options and values that they would ignore or refuse.
//
// The tables are in tables.zip. `make oslo-tables` makes it from Debian's packages with
// oslo-config-generator. Each Python distribution has one entry;
// `unzip -p tables.zip nova.json` shows one, with the examined versions. The tables add about
// 100 kB to the program, and they are decoded only when a check needs them.
//
// # Which package represents which release
//
// Some suites of Debian are a release as a whole. In others some packages belong to one release
// and some to the next one, and some releases were in no suite. A release without a package of exactly
// that release lies between the packages of an earlier and a later one. For such a release
//
//   - an option exists if any of these packages has it,
//   - its former name is deprecated only if all of them have the option, and
//   - its type and limits are known only if all packages with the option agree on them,
//
// so that correct settings never cause a warning. The price is that some changes between the
// releases cause no warning either. A service that no later suite has is not known in later
// releases.
//
// # What a new release changes
//
// [Check] warns about the release of the configuration. [Changes] compares it with the release that
// runs: options that are gone, renamed or deprecated since, with their places and new names.
//
// # What causes no warning
//
// A false warning is worse than a missing one.
//
// The files of one service share one table, because the command line of a process decides which
// files it reads. So l3_agent.ini may have options that only the server reads. Options that
// occur only in the source code, and that no generator prints, may be in any group.
//
// There is no warning about groups that other options name (enabled_backends), that belong to a
// privileged context, or that probably belong to a plugin. While names of groups are unknown,
// there is no warning about any group.
//
// Limits are never stricter than oslo.config's. Values with references to other options
// ($state_path) or to generated secrets are not checked. The tables have no limits that depend
// on the machine, such as the number of its CPUs.
//
// Options of keystoneauth's plugins may be in every group for an authentication, but a former
// name counts only for the plugin that the group chooses (auth_type).
//
// An option from a value for many files (cloud defaults) must exist in one of them.
package options
