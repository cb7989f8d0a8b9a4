// Package lang implements the configuration language: it reads HCL files, checks and evaluates
// them, and returns a [configs.Config], which has no expressions.
//
// Start with [Load]. Show all diagnostics, and use the Config only if none is an error:
//
//	config, diags := lang.Load(".", lang.Options{Catalogue: openstack.Catalogue()})
//	printer := hcl.NewDiagnosticTextWriter(os.Stderr, config.Files, 80, false)
//	_ = printer.WriteDiagnostics(diags)
//	if diags.HasErrors() {
//		return
//	}
//
// [LoadConsole] is for programs that evaluate more expressions. [Backend] finds only the place of
// the state. Mistakes to avoid:
//
//   - Loading without a Catalogue. It has the built-in definitions of services.
//   - Loading without Environ if users give values with KOLLA_VAR_name. Load does not read the
//     environment itself.
//   - Expecting data without Read. There is no cluster then, and data are unknown.
//   - Printing a [configs.Text] without its method Masked, which leaves secret values out.
//
// Load parses all files, orders the blocks by their references, and evaluates each block once for
// each of its instances. Each step reports all errors that it finds, and goes on with the rest.
//
//   - configs is the result; addrs has the addresses of blocks and objects.
//   - schema defines the permitted blocks, and schema/forms the forms of strings.
//   - syntax parses one file, internal/source a directory with its modules.
//   - internal/eval puts services over definitions, and evaluates expressions and arguments, with
//     functions from functions.
//   - internal/present/graph orders blocks, internal/variables finds the values of variables, and
//     internal/moves reads addresses in arguments.
//   - internal/services evaluates services, internal/pods their pods, internal/blocks other blocks.
//   - internal/settings merges the layers of config values. Their order is in layers.go.
//   - internal/check finds mistakes that need the whole configuration, such as a port that two
//     services use.
//   - internal/diag collects diagnostics, and internal/values knows types and texts of values.
//   - mark handles values that must not be shown, or are not known yet. ini and yaml read files of
//     other programs. catalogue describes definitions without evaluating them.
//
// # Secrets
//
// A generated secret has no value before apply. An expression that uses a secret gets a token,
// which passes through templates, format and jsonencode unchanged. In the Config, the token is a
// reference: a Part of a Text. Nothing can be computed from it. A value of a sensitive variable
// is known, and carries a mark through every expression. Both can only be used where a Text is
// expected, in environments and config files, and neither appears in a diagnostic.
//
// # Values that are not known yet
//
// A data block may read an object that only the apply creates. Its value is then unknown and
// carries a mark through expressions. It becomes a Part of a Text, or a place in a manifest that
// is known later. All values that are not texts must be known, and so must values that decide
// which objects exist, such as for_each. An unknown value without the mark comes from a mistake
// that was already reported; if none was, it is an error itself.
package lang
