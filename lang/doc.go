// Package lang is the language in which a cloud is written: it reads HCL files,
// checks and evaluates them, and gives a Config.
//
//	config, diags := lang.Load(".", lang.Options{Catalogue: openstack.Catalogue()})
//
// Load goes through these steps; each reports all that it finds wrong, with the
// place in the source, and goes on with what is right:
//
//   - The files are parsed, and their blocks compared with Schema, which says what
//     may stand where. Definitions come from the catalogue too; a user's own takes
//     the place of the catalogue's of the same name.
//   - Variables get their values: environment, kolla.vars.hcl and *.auto.vars.hcl,
//     -var-file, -var, each over the ones before.
//   - References are followed without evaluating anything. They give the order in
//     which local values, roles, exposures, services and manifests are evaluated,
//     and what each service needs. A reference in a config value that is overridden
//     does not count.
//   - Everything is evaluated, in that order. Config values are merged key by key:
//     the definition's, then the cloud's defaults, then those of the config directory,
//     then the service's. A list replaces a list; null removes a key or a section; a
//     list of lists is a key that is written several times.
//   - What only shows in the whole is checked: ports that two would take, services that
//     are named and not needed.
//
// # Secrets
//
// A generated secret has no value before apply. Where an expression uses one, a
// token takes its place, which goes through templates and functions such as format
// and jsonencode unchanged; in the Config it has become a reference, a Part of a
// Text. Nothing can be computed from such a value, and it can only be used where a
// Text is wanted: environments and config files. Values of sensitive variables are
// known, and carry a mark through every expression that keeps them to the same
// places. Neither appears in a diagnostic.
package lang
