// Package lang implements the configuration language: it reads HCL files, checks and evaluates
// them, and returns a configs.Config.
//
//	config, diags := lang.Load(".", lang.Options{Catalogue: openstack.Catalogue()})
//
// Load has these steps. Each step reports all errors that it finds, with their places in the
// source, and continues with the correct parts:
//
//   - internal/source parses the files, in either syntax of HCL, and checks their blocks against
//     package schema, which defines the permitted contents. It reads the directories of module
//     blocks in the same way. The catalogue adds definitions. A user's definition replaces a
//     definition of the catalogue with the same name.
//   - internal/graph follows references without evaluation. Its nodes are blocks as they are
//     written: a block is one node, even if it or its module is used several times. The graph
//     determines the order of evaluation and the dependencies of each service.
//   - All blocks are evaluated in that order. A block is evaluated once for each use of its
//     module (a frame), and in each frame once for each of its instances. Some dependencies
//     only show during evaluation, such as a role with a computed name: these blocks are
//     evaluated on demand and become dependencies as well. internal/services evaluates services
//     in stages.
//   - internal/check finds mistakes that need the whole configuration: a port that two services
//     use, or a service that is named and not needed.
//
// # Packages
//
// Package lang has Load, the evaluation of all top-level blocks but services (assembly.go), and
// the Console. The packages below it do the parts:
//
//   - configs is the result, as plain data; addrs has the addresses of blocks and objects.
//   - schema defines the permitted blocks, and schema/forms the forms of strings.
//   - syntax parses one file, internal/source a directory with its modules.
//   - internal/eval evaluates expressions and arguments, with functions from functions.
//   - internal/graph orders blocks, internal/variables finds the values of variables, and
//     internal/moves reads addresses in arguments.
//   - internal/services evaluates services, internal/pods their pods, and internal/blocks single
//     blocks.
//   - internal/settings merges config values. The order of the layers is in its file layers.go:
//     the definition, the cloud's defaults, the config directory, the service. A stronger layer
//     wins key by key. A list replaces a list. Null removes a key or a section. A list of lists
//     becomes a key that is written several times.
//   - internal/check compares what was evaluated.
//   - internal/diag collects diagnostics, and internal/values knows types and texts of values.
//   - mark handles values that must not be shown, or are not known yet. ini and yaml read files
//     of other programs. catalogue describes definitions without evaluating them.
//
// # Secrets
//
// A generated secret has no value before apply. An expression that uses a secret gets a
// token instead, which passes through templates and functions such as format and jsonencode
// unchanged. In the Config, the token is a reference: a Part of a Text. Nothing can be
// computed from a token, and it can only be used where a Text is expected: in environments
// and config files. Values of sensitive variables are known. They carry a mark through every
// expression, which restricts them to the same places. Neither kind of value appears in a
// diagnostic.
//
// # Values that are not known yet
//
// A data block may read an object that only the apply creates. Its value is then unknown and
// carries a mark, which also travels through expressions. The value becomes a Part of a Text,
// or a place in a manifest that is known later. Values that decide which objects exist, such
// as for_each, must be known, and so must all values that are not texts. An unknown value
// without the mark comes from a mistake that was already reported, and causes no second
// report. If no mistake was reported, such a value is an error itself.
package lang
