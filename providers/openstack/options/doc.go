// Package options knows the options that OpenStack's services read from their config
// files, in each release, and warns of what they would ignore or refuse.
//
// What it knows is in tables.zip, which `make oslo-tables` makes of Debian's packages:
// it asks them with oslo-config-generator. One entry a Python distribution; `unzip -p
// tables.zip nova.json` shows one, with the versions that were asked. The tables add
// about 100 kB to the program, and nothing is decoded before a check needs it.
//
// # Which package speaks for which release
//
// Debian trixie is 2025.1. Later suites hold some packages of 2026.1 and some newer
// ones, and nothing is 2025.2. A release that no package is exactly, is between those
// that there are. Then
//
//   - an option exists when it is in any of them,
//   - its former name is deprecated only when the option is in all of them, and
//   - its type and limits are those that all that have it agree on,
//
// so that nothing that is right is warned of, at the price of silence about some of what
// changed in between. A service that only trixie has is not known in later releases.
//
// # What is not warned of
//
// A false warning is worse than a missing one. The files of one service share one table:
// which of them a process reads, its command line says, and so l3_agent.ini may hold what
// only the server reads without a warning. Names that only the source code has, and no
// generator prints, may be in any group. Groups that are named by other options
// (enabled_backends), that belong to a privileged context, or that are probably a
// plugin's, are let be. Limits are never stricter than oslo.config's own, and values with
// references to other options ($state_path) or to generated secrets are not looked at.
// Options of keystoneauth's plugins may be in every group for an authentication, but a
// former name counts only for the plugin that the group chooses (auth_type). While names
// of groups are unknown, no group is. Limits that depend on the machine, such as the number
// of its CPUs, are not in the tables.
// What a value for many files (cloud defaults) sets, has to exist in one of them.
package options
